import { expect, test } from 'vitest';
import { startTestApp } from '../helpers/app.ts';
import { createManualClock } from '../helpers/clock.ts';
import { createFakeEncoder } from '../helpers/fake-encoder.ts';
import { createHeldSource, HELD_CHANNEL_ID } from '../helpers/fake-source.ts';
import { createDataDir } from '../helpers/started-data-dir.ts';

const AVATAR = { kind: 'remote', key: 'https://yt3.ggpht.com/a', urls: ['https://yt3.ggpht.com/a=s0'] } as const;
const DAY_MS = 86_400_000;

test('Last-Modified is the time when these bytes were first stored, also after a reload and a restart', async () => {
  const dataDir = await createDataDir();
  const clock = createManualClock();
  let bytes = 'the original';
  const start = () =>
    startTestApp({
      dataDir,
      clock,
      sources: [createHeldSource(AVATAR)],
      downloader: { download: async () => Buffer.from(bytes) },
      encoder: createFakeEncoder(),
    });
  let service = await start();
  async function lastModifiedMs(): Promise<number> {
    const { status, headers } = await service.getLater(`/${HELD_CHANNEL_ID}/avatar.webp`);
    expect(status).toBe(200);
    return Date.parse(String(headers['last-modified']));
  }

  const firstMs = await lastModifiedMs();
  expect(firstMs).toBe(clock.now());
  clock.advance(2 * DAY_MS);
  expect(await lastModifiedMs()).toBe(firstMs);
  await service.close();
  service = await start();
  expect(await lastModifiedMs()).toBe(firstMs);

  clock.jumpWallClock(-3 * DAY_MS);
  expect(await lastModifiedMs()).toBe(clock.now());
  clock.jumpWallClock(3 * DAY_MS);

  clock.advance(2 * DAY_MS);
  bytes = 'another original';
  expect(await lastModifiedMs()).toBe(clock.now());
  await service.close();
});
