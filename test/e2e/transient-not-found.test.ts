import { beforeEach, describe, expect, it } from 'vitest';
import { respondWithJson, respondWithStatus } from '../helpers/fake-upstream.ts';
import { startYoutubeForTest, type YoutubeService } from '../helpers/youtube-service.ts';

const RECORD = '/api/channel/UCreplayLighthouse000001';
const HOUR_MS = 3_600_000;
const NOT_FOUND = respondWithJson({ error: { code: 404, status: 'NOT_FOUND' } }, 404);

let running: YoutubeService;
beforeEach(async () => {
  running = await startYoutubeForTest();
});

async function ask(url = RECORD) {
  const { status, headers } = await running.service.get(url);
  return [status, headers['cache-control']];
}

describe('a 404 for a name', () => {
  const HANDLE = '/api/channel/BellRockLight?type=handle';

  it.each([
    ['its handle', HANDLE],
    ['a user name, which records do not have', '/api/channel/bellrock?type=username'],
  ])('is not believed while its channel is there: %s', async (_what, url) => {
    expect(await ask(url)).toEqual([200, 'public, max-age=3600']);
    running.service.clock.advance(HOUR_MS + 1);
    running.replay.misbehave('resolve', NOT_FOUND);
    expect(await ask(url)).toEqual([200, 'public, max-age=3600']);
  });

  it('cannot be confirmed while the record of its channel cannot be loaded', async () => {
    await ask(HANDLE);
    running.service.clock.advance(HOUR_MS + 1);
    running.replay.misbehave('resolve', NOT_FOUND);
    running.replay.misbehave('browse', respondWithStatus(429));
    expect(await ask(HANDLE)).toEqual([200, 'public, max-age=60']);
  });

  it('is believed when its channel is gone', async () => {
    await ask(HANDLE);
    running.replay.misbehave('resolve', NOT_FOUND);
    running.replay.misbehave('browse', NOT_FOUND);
    running.service.clock.advance(HOUR_MS + 1);
    expect(await ask(HANDLE)).toEqual([404, 'public, max-age=60']);
  });
});
