import type { RequestListener } from 'node:http';
import { pino } from 'pino';
import { expect, test } from 'vitest';
import { CHANNELS, KEY, respondAsDataApi, respondWithDataApiError } from '../helpers/data-api.ts';
import { recordSpans } from '../helpers/recorded-spans.ts';
import { startYoutubeForTest, type YoutubeService } from '../helpers/youtube-service.ts';

/* What the operator reads or sends elsewhere has no key, whatever the upstream does. test/system/secrets.test.ts checks the start. */

const { ended } = recordSpans();

let running: YoutubeService;

/** A key as it may appear in a URL, and a search text. */
const SEARCH = 'a private question';
const HIDDEN_IN_SPANS = [KEY, SEARCH, encodeURIComponent(SEARCH), SEARCH.replaceAll(' ', '+')];

test.each<[string, RequestListener]>([
  ['responds', respondAsDataApi(CHANNELS)],
  ['refuses the key', respondWithDataApiError(400, 'keyInvalid')],
  ['repeats the key in its error', respondWithDataApiError(403, 'forbidden', `The key ${KEY} is not allowed.`)],
  ['fails', respondWithDataApiError(500, 'backendError')],
  ['sends no JSON', (_request, response) => response.end(`<html>${KEY}`)],
  ['breaks the connection', (request) => request.destroy()],
])('log, spans, metrics and console have no key if the upstream %s', async (_what, dataApi) => {
  const lines: string[] = [];
  const logger = pino({ level: 'trace' }, { write: (line: string) => lines.push(line) });
  const env = { SOURCES: 'youtube-data-api', YOUTUBE_API_KEY: KEY, ACCESS_LOG: 'on' };
  running = await startYoutubeForTest({ responses: [], dataApi }, { env, logger });
  const { service, replay } = running;
  const urls = ['/api/channel/UCPennantSample00000001A', `/api/search?q=${encodeURIComponent(SEARCH)}`];
  const responses = await Promise.all(urls.map((url) => service.get(url)));
  expect(replay.callsTo('data-api').length).toBeGreaterThan(0);
  await expect.poll(() => ended()).toHaveLength(urls.length);

  const spans = JSON.stringify(ended());
  expect(spans).toContain('url.full');
  expect(HIDDEN_IN_SPANS.filter((text) => spans.includes(text))).toEqual([]);
  const shown = [
    ...lines,
    ...responses.map(({ text }) => text),
    ...(await Promise.all(
      ['/metrics', '/state.json', '/readyz'].map(async (url) => (await service.console(url)).text),
    )),
  ];
  expect(lines).not.toEqual([]);
  expect(shown.filter((text) => text.includes(KEY))).toEqual([]);
});
