import { beforeEach, describe, expect, it } from 'vitest';
import { numberedChannelId } from '../helpers/fake-source.ts';
import { respondWithJson, respondWithStatus } from '../helpers/fake-upstream.ts';
import { startYoutubeForTest, type YoutubeService } from '../helpers/youtube-service.ts';

const RECORD = '/api/channel/UCreplayLighthouse000001';
const HOUR_MS = 3_600_000;
const SCANNED = Array.from({ length: 60 }, (_, number) => `/api/channel/${numberedChannelId(number)}`);
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

describe('a scan of unknown IDs', () => {
  /** @returns the pages that were requested for each ID */
  async function scan(): Promise<number> {
    for (const url of SCANNED) {
      expect(await ask(url)).toEqual([404, 'public, max-age=60']);
      running.service.clock.advance(1_000);
    }
    return running.replay.callsTo('browse').length / SCANNED.length;
  }

  it('costs one page each while YouTube answers as usual', async () => {
    expect(await scan()).toBe(1);
  });

  it('costs two pages each while YouTube answers 404', async () => {
    running.replay.misbehave('browse', NOT_FOUND);
    expect(await scan()).toBe(2);
  });

  it('ends when YouTube refuses the call that confirms', async () => {
    running.replay.misbehave('browse', NOT_FOUND, 1);
    running.replay.misbehave('browse', respondWithStatus(429));
    for (const url of SCANNED) await ask(url);
    expect(running.replay.callsTo('browse')).toHaveLength(2);
  });
});
