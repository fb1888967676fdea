import type { RequestListener } from 'node:http';
import { pino } from 'pino';
import { expect, test } from 'vitest';
import { CHANNELS, KEY, respondAsDataApi, respondWithDataApiError } from '../helpers/data-api.ts';
import { startYoutubeForTest, type YoutubeService } from '../helpers/youtube-service.ts';

/* What the operator reads or sends elsewhere has no key, whatever the upstream does. test/system/secrets.test.ts checks the start. */

let running: YoutubeService;

test.each<[string, RequestListener]>([
  ['responds', respondAsDataApi(CHANNELS)],
  ['refuses the key', respondWithDataApiError(400, 'keyInvalid')],
  ['repeats the key in its error', respondWithDataApiError(403, 'forbidden', `The key ${KEY} is not allowed.`)],
  ['fails', respondWithDataApiError(500, 'backendError')],
  ['sends no JSON', (_request, response) => response.end(`<html>${KEY}`)],
  ['breaks the connection', (request) => request.destroy()],
])('log, metrics and console have no key if the upstream %s', async (_what, dataApi) => {
  const lines: string[] = [];
  const logger = pino({ level: 'trace' }, { write: (line: string) => lines.push(line) });
  const env = { SOURCES: 'youtube-data-api', YOUTUBE_API_KEY: KEY, ACCESS_LOG: 'on' };
  running = await startYoutubeForTest({ responses: [], dataApi }, { env, logger });
  const { service, replay } = running;
  const urls = ['/api/channel/UCPennantSample00000001A', '/api/search?q=a%20question'];
  const responses = await Promise.all(urls.map((url) => service.get(url)));
  expect(replay.callsTo('data-api').length).toBeGreaterThan(0);

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
