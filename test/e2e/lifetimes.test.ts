import { describe, expect, test } from 'vitest';
import { createFakeEncoder } from '../helpers/fake-encoder.ts';
import { respondWithStatus } from '../helpers/fake-upstream.ts';
import { createDataDir } from '../helpers/started-data-dir.ts';
import { startYoutubeForTest } from '../helpers/youtube-service.ts';

const [SECOND, MINUTE, HOUR, DAY] = [1_000, 60_000, 3_600_000, 86_400_000];
const ID = 'UCreplayLighthouse000001';

/** Every kind of stored value: how long it is fresh, and how long the last good one is served when the sources fail. */
const KINDS = [
  ['a record', `/api/channel/${ID}`, 200, HOUR, 7 * DAY],
  ['a handle', '/api/channel/BellRockLight?type=handle', 200, HOUR, 7 * DAY],
  ['an image', `/${ID}/tv.png?width=64`, 200, DAY, 7 * DAY],
  ['a search', '/api/search?q=lighthouse', 200, 10 * MINUTE, DAY],
  ['an absent channel', '/api/channel/UCabsent0000000000000001', 404, MINUTE, MINUTE],
] as const;

async function startFilled(url: string, status: number) {
  const dataDir = await createDataDir();
  const running = await startYoutubeForTest({}, { dataDir, encoder: createFakeEncoder() });
  expect((await running.service.get(url)).status).toBe(status);
  running.replay.misbehave('all', respondWithStatus(500));
  running.replay.forgetCalls();
  return running;
}

describe.each(KINDS)('%s', (_what, url, status, freshMs, lastGoodMs) => {
  test('is served without a call as long as it is fresh, and no longer', async () => {
    const { service, replay } = await startFilled(url, status);
    service.clock.advance(freshMs - SECOND);
    expect((await service.get(url)).status).toBe(status);
    expect(replay.calls).toEqual([]);
    service.clock.advance(2 * SECOND);
    await service.get(url);
    expect(replay.calls).not.toEqual([]);
  });

  test('is served until its last good time has passed, also after a restart', async () => {
    const service = await (await startFilled(url, status)).restart();
    service.clock.advance(lastGoodMs - 2 * SECOND);
    expect((await service.get(url)).status).toBe(status);
    service.clock.advance(MINUTE);
    expect((await service.get(url)).status).toBeGreaterThanOrEqual(500);
  });
});
