import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { startTestApp, type TestApp } from '../helpers/app.ts';
import { createManualClock, type ManualClock } from '../helpers/clock.ts';
import { createFakeEncoder } from '../helpers/fake-encoder.ts';
import { createHeldSource, HELD_CHANNEL_ID } from '../helpers/fake-source.ts';
import { createDataDir } from '../helpers/started-data-dir.ts';

/* `Last-Modified` of an image on a machine whose clock is wrong for a while. */

const AVATAR = { kind: 'remote', key: 'https://yt3.ggpht.com/a', urls: ['https://yt3.ggpht.com/a=s0'] } as const;
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

let dataDir: string;
let clock: ManualClock;
let bytes: string;
let service: TestApp;

beforeEach(async () => {
  dataDir = await createDataDir();
  clock = createManualClock();
  bytes = 'the original';
  await start();
});
afterEach(() => service.close());

async function start(): Promise<void> {
  const downloader = { download: async () => Buffer.from(bytes) };
  const sources = [createHeldSource(AVATAR)];
  service = await startTestApp({ dataDir, clock, sources, downloader, encoder: createFakeEncoder() });
}

async function restart(): Promise<void> {
  await service.close();
  await start();
}

async function lastModifiedMs(): Promise<number> {
  const { status, headers } = await service.getLater(`/${HELD_CHANNEL_ID}/avatar.webp`);
  const timeMs = Date.parse(String(headers['last-modified']));
  expect(status).toBe(200);
  expect(timeMs).toBeLessThanOrEqual(clock.now());
  return timeMs;
}

/** Two requests while the clock is wrong. */
async function requestWithWrongClock(offsetMs: number): Promise<void> {
  clock.jumpWallClock(offsetMs);
  await lastModifiedMs();
  await lastModifiedMs();
  clock.jumpWallClock(-offsetMs);
}

describe.each([
  ['behind', -2 * DAY_MS],
  ['ahead', 2 * DAY_MS],
])('a clock that is two days %s for a while', (_, offsetMs) => {
  test.each([
    ['a fresh image', HOUR_MS],
    ['an image that is loaded again meanwhile', 25 * HOUR_MS],
  ])('does not change the time of %s', async (_case, ageMs) => {
    const firstMs = await lastModifiedMs();
    clock.advance(ageMs);
    await requestWithWrongClock(offsetMs);
    expect(await lastModifiedMs()).toBe(firstMs);
    await restart();
    expect(await lastModifiedMs()).toBe(firstMs);
  });

  test('gives other bytes a later time', async () => {
    const firstMs = await lastModifiedMs();
    clock.advance(25 * HOUR_MS);
    bytes = 'another original';
    await requestWithWrongClock(offsetMs);
    expect(await lastModifiedMs()).toBeGreaterThan(firstMs);
  });
});
