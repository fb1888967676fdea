import { afterEach, describe, expect, it } from 'vitest';
import { answerDataApi } from '../helpers/data-api.ts';
import { answerJson } from '../helpers/faulty-upstream.ts';
import { OWN_ANSWERS, readAnswers } from '../helpers/replay-answers.ts';
import { startYoutubeService, type YoutubeService } from '../helpers/youtube-service.ts';

const LIGHTHOUSE = 'UCreplayLighthouse000001';
const RECORD = `/api/channel/${LIGHTHOUSE}`;
const HOUR_MS = 3_600_000;
const API_KEY = 'key-of-the-test';

const dataApi = answerDataApi({
  channels: [{ id: LIGHTHOUSE, snippet: { title: 'Bell Rock Light, from the API' } }],
  apiKey: API_KEY,
});

let running: YoutubeService;
afterEach(() => running.close());

async function start(env: Record<string, string> = {}): Promise<YoutubeService> {
  running = await startYoutubeService({ answers: readAnswers(OWN_ANSWERS), dataApi }, { env });
  return running;
}

describe.each(['INVALID_ARGUMENT', 'NOT_FOUND', 'FAILED_PRECONDITION'])('HTTP 400 %s', (status) => {
  const refusal = answerJson({ error: { code: 400, status } }, 400);

  it('is no answer about the channel: it is not stored, and the stored record goes out', async () => {
    const { service, replay } = await start();
    replay.misbehave('all', refusal);
    const unknown = await service.get(RECORD);
    expect([unknown.status, unknown.json().code]).toEqual([502, 'upstream_invalid']);
    expect(unknown.headers['cache-control']).toBe('no-store');

    replay.behave();
    service.clock.advance(HOUR_MS);
    expect((await service.get(RECORD)).status).toBe(200);

    replay.misbehave('all', refusal);
    service.clock.advance(HOUR_MS + 1);
    const old = await service.get(RECORD);
    expect([old.status, old.headers['cache-control']]).toEqual([200, 'public, max-age=60']);
    const handle = await service.get('/api/channel/nobody?type=handle');
    expect(handle.status).toBe(502);
  });

  it('leaves the question to the next source', async () => {
    const { service, replay } = await start({ SOURCES: 'youtube,youtube-data-api', YOUTUBE_API_KEY: API_KEY });
    replay.misbehave('browse', refusal);
    const answer = await service.get(RECORD);
    expect([answer.status, answer.json().title]).toEqual([200, 'Bell Rock Light, from the API']);
  });
});
