import { readdir, readFile, rm, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, expect, test, vi } from 'vitest';
import { startForTest, type TestApp, type TestAppOptions } from '../helpers/app.ts';
import { catalogLine, importLines, writeImages } from '../helpers/catalog.ts';
import { createManualClock, type ManualClock } from '../helpers/clock.ts';
import { storedBytesIn } from '../helpers/disk-images.ts';
import { sharedEncoder } from '../helpers/encoder.ts';
import { createFakeEncoder } from '../helpers/fake-encoder.ts';
import { numberedChannelId } from '../helpers/fake-source.ts';
import { decodeImage } from '../helpers/image.ts';
import { createDataDir } from '../helpers/started-data-dir.ts';
import { createTemporaryDirectory } from '../helpers/temporary-directory.ts';
import { drawTestCard } from '../helpers/test-card.ts';

/* Images of the operator's own channels. */

const OWN = numberedChannelId(1);
const HOUR_MS = 3_600_000;

const encoder = sharedEncoder();
let dataDir: string;
let clock: ManualClock;
let app: TestApp;
beforeEach(async () => {
  dataDir = await createDataDir();
  clock = createManualClock();
  await importAvatar(64);
  app = await start();
});

async function start(options: TestAppOptions = {}): Promise<TestApp> {
  return startForTest({ dataDir, clock, encoder, env: { SAMPLE_CATALOG: 'off' }, ...options });
}

/** Imports the channel as another process does, at the time of the service's clock. */
async function importAvatar(size: number, title = 'A title', { aheadMs = 0 } = {}): Promise<void> {
  const png = await drawTestCard({ width: size, height: size }).png().toBuffer();
  const images = await writeImages(await createTemporaryDirectory(), { 'avatar.png': png });
  const now = vi.spyOn(Date, 'now').mockReturnValue(clock.now() + aheadMs);
  const { refusals } = await importLines(dataDir, [catalogLine(1, { avatarFile: 'avatar.png', title })], images);
  now.mockRestore();
  expect(refusals).toEqual([]);
  clock.advance(1_000);
}

async function getAvatar(headers: Record<string, string> = {}) {
  const response = await app.get(`/${OWN}/avatar.png`, headers);
  clock.advance(1_000);
  return { ...response, modifiedMs: Date.parse(String(response.headers['last-modified'])) };
}

const width = async () => (await decodeImage((await getAvatar()).bytes)).width;

test('an image has the time of its import, which a restart and time do not change', async () => {
  const importedMs = clock.now() - 1_000;
  const first = await getAvatar();
  expect(first.modifiedMs).toBe(Math.floor(importedMs / 1_000) * 1_000);
  clock.advance(48 * HOUR_MS);
  const later = await getAvatar();
  await app.close();
  app = await start();
  for (const { modifiedMs, headers } of [later, await getAvatar()]) {
    expect([modifiedMs, headers.etag]).toEqual([first.modifiedMs, first.headers.etag]);
    expect(headers['cache-control']).toBe('public, max-age=86400');
  }
  const since = { 'if-modified-since': String(first.headers['last-modified']) };
  expect((await getAvatar(since)).status).toBe(304);
});

test('a stored image needs no encoder after a restart', async () => {
  const first = await getAvatar();
  await app.close();
  const unexpected = () => Promise.reject(new Error('not expected'));
  app = await start({ encoder: createFakeEncoder({ inspect: unexpected, encode: unexpected }) });
  const again = await getAvatar();
  expect([again.status, again.headers.etag, again.bytes]).toEqual([200, first.headers.etag, first.bytes]);
});

test('a new image has a later time, also on a machine whose clock was set back', async () => {
  const first = await getAvatar();
  clock.jumpWallClock(-48 * HOUR_MS);
  await importAvatar(128);
  clock.jumpWallClock(48 * HOUR_MS);
  const second = await getAvatar({ 'if-modified-since': String(first.headers['last-modified']) });
  expect(second.status).toBe(200);
  expect(second.modifiedMs).toBeGreaterThan(first.modifiedMs);
});

test('an import on a machine whose clock is ahead gives no time in the future', async () => {
  await importAvatar(128, 'Another title', { aheadMs: 48 * HOUR_MS });
  expect((await getAvatar()).modifiedMs).toBeLessThanOrEqual(clock.now());
});

test('the original is read where it is, and not stored again', async () => {
  const [name = ''] = await readdir(join(dataDir, 'catalog-images'));
  const original = await readFile(join(dataDir, 'catalog-images', name));
  expect((await app.get(`/${OWN}/avatar.webp`)).status).toBe(200);
  await app.close();
  const stored = storedBytesIn(dataDir);
  expect(stored.length).toBeGreaterThan(0);
  expect(stored.filter((bytes) => bytes.includes(original))).toEqual([]);
});

test('an image that is missing is an error that says so, until it is imported again', async () => {
  await rm(join(dataDir, 'catalog-images'), { recursive: true });
  const { status, text } = await getAvatar();
  expect([status, JSON.parse(text).code]).toEqual([502, 'upstream_invalid']);
  await importAvatar(64, 'Again');
  expect(await width()).toBe(64);
});

test('an image that cannot be read is unavailable, not a bug of the service', async () => {
  const [name = ''] = await readdir(join(dataDir, 'catalog-images'));
  const file = join(dataDir, 'catalog-images', name);
  await rm(file);
  // Fails for every user. The permissions of a file stop all users but root.
  await symlink(file, file);
  const { status, text, headers } = await getAvatar();
  expect([status, JSON.parse(text).code]).toEqual([503, 'upstream_unavailable']);
  expect(headers['retry-after']).toBeDefined();
});
