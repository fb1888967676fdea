import { readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { openSavedRemovals } from '../../src/app/saved-removals.ts';
import { createLogger } from '../../src/lib/logger.ts';
import { createCatalogSource } from '../../src/sources/catalog/catalog.ts';
import { readChangesSince } from '../../src/sources/catalog/change-log.ts';
import { inspectCatalog } from '../../src/sources/catalog/reader.ts';
import { catalogPaths } from '../../src/sources/catalog/schema.ts';
import { openCatalogWriter } from '../../src/sources/catalog/writer.ts';
import { startTestApp, type TestApp } from '../helpers/app.ts';
import { catalogLine, importLines, writeImages } from '../helpers/catalog.ts';
import { createManualClock } from '../helpers/clock.ts';
import {
  createHeldSource,
  HELD_CHANNEL_ID,
  HELD_HANDLE,
  type HeldSource,
  numberedChannelId,
} from '../helpers/fake-source.ts';
import { decodeImage } from '../helpers/image.ts';
import { createTemporaryDirectory } from '../helpers/temporary-directory.ts';
import { drawTestCard } from '../helpers/test-card.ts';

const SAMPLE = 'UCPennantSample00000001A';
const NEW = numberedChannelId(1);
const HIT = /^pennant; hit/;

let dataDir: string;
let app: TestApp;
beforeEach(async () => {
  dataDir = await createTemporaryDirectory();
  app = await start();
});

async function start(options: Parameters<typeof startTestApp>[0] = {}): Promise<TestApp> {
  const clock = createManualClock();
  const started = await startTestApp({ dataDir, clock, ...options });
  onTestFinished(() => started.close());
  // The first start creates the catalog in the background. A response from it shows that it exists.
  expect((await started.get(`/channel/${numberedChannelId(9)}`)).status).toBe(404);
  // While the catalog's thread opens the file, it may be locked for the check for changes, which is repeated after a second.
  clock.advance(1_000);
  return started;
}

/** Changes the catalog as another process does. */
async function put(fields: Record<string, unknown>, number = 1): Promise<void> {
  expect((await importLines(dataDir, [catalogLine(number, fields)])).refusals).toEqual([]);
}

function remove(channelId: string): void {
  const writer = openCatalogWriter(catalogPaths(dataDir));
  writer.remove(channelId);
  writer.removeLeftovers();
  writer.close();
}

const statusOf = async (url: string) => (await app.get(url)).status;
const titleOf = async (url: string) => (await app.get(url)).json<{ title: string }>().title;
const cacheStatusOf = async (url: string) => (await app.get(url)).headers['cache-status'];
const idsIn = async (url: string) =>
  (await app.get(url)).json<{ results: { channelId: string }[] }>().results.map(({ channelId }) => channelId);

async function countImages(): Promise<number> {
  const entries = await readdir(join(dataDir, 'images'), { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).length;
}

describe('a change of the catalog by another process is visible to the next request', () => {
  const [byId, byHandle, byName] = [`/channel/${NEW}`, '/api/channel/newcomer?type=handle', '/user/oldname'];
  const search = '/api/search?q=newcomer';

  test('a new channel, although it was reported as absent a moment ago', async () => {
    for (const url of [byId, byHandle, byName]) expect([url, await statusOf(url)]).toEqual([url, 404]);
    expect(await idsIn(search)).toEqual([]);
    await put({ title: 'The newcomer', customUrl: '@Newcomer', username: 'OldName' });
    for (const url of [byId, byHandle, byName]) expect([url, await statusOf(url)]).toEqual([url, 200]);
    expect(await idsIn(search)).toEqual([NEW]);
  });

  test('a changed channel, by ID, by its former handle and in searches', async () => {
    await put({ title: 'The newcomer', customUrl: '@Newcomer' });
    for (const url of [byId, byHandle]) expect(await titleOf(url)).toBe('The newcomer');
    expect(await idsIn(search)).toEqual([NEW]);
    await put({ title: 'Renamed', customUrl: '@Renamed' });
    expect(await titleOf(byId)).toBe('Renamed');
    expect(await statusOf(byHandle)).toBe(404);
    expect(await idsIn(search)).toEqual([]);
    expect(await titleOf('/api/channel/renamed?type=handle')).toBe('Renamed');
  });

  test('a handle that moves to another channel', async () => {
    await put({ title: 'First', customUrl: '@Newcomer' });
    expect(await titleOf(byHandle)).toBe('First');
    await put({ title: 'First', customUrl: null });
    await put({ title: 'Second', customUrl: '@Newcomer' }, 2);
    expect(await titleOf(byHandle)).toBe('Second');
  });

  test('a removed channel, whose images and bytes in cache.db are removed too', async () => {
    const { title } = (await app.get(`/channel/${SAMPLE}`)).json<{ title: string }>();
    expect(await statusOf(`/${SAMPLE}/avatar`)).toBe(200);
    await expect.poll(countImages).toBeGreaterThan(0);
    remove(SAMPLE);
    for (const url of [`/channel/${SAMPLE}`, `/${SAMPLE}/avatar`, '/@pennantsample/tv']) {
      expect([url, await statusOf(url)]).toEqual([url, 404]);
    }
    await app.close();
    expect(await countImages()).toBe(0);
    expect(await readFile(join(dataDir, 'cache.db'), 'latin1')).not.toContain(title);
  });

  test('a new image that could not be read a moment ago, while the former one was served', async () => {
    const importAvatar = async (size: number, title: string) => {
      const png = await drawTestCard({ width: size, height: size }).png().toBuffer();
      const images = await writeImages(dataDir, { 'avatar.png': png });
      const line = catalogLine(1, { avatarFile: 'avatar.png', title });
      expect((await importLines(dataDir, [line], images)).refusals).toEqual([]);
    };
    const avatar = async () => {
      const { bytes, headers } = await app.get(`/${NEW}/avatar.png`);
      return [(await decodeImage(bytes)).width, headers['cache-control']];
    };
    await importAvatar(64, 'Former');
    expect(await avatar()).toEqual([64, 'public, max-age=86400']);
    await importAvatar(128, 'Without its file');
    await rm(join(dataDir, 'catalog-images'), { recursive: true });
    for (let time = 0; time < 2; time += 1) expect(await avatar()).toEqual([64, 'public, max-age=60']);
    await importAvatar(128, 'Complete');
    expect(await avatar()).toEqual([128, 'public, max-age=86400']);
  });

  test('an image that could not be read a moment ago', async () => {
    const images = await writeImages(dataDir, {
      'avatar.png': await drawTestCard({ width: 64, height: 64 }).png().toBuffer(),
    });
    const line = catalogLine(1, { avatarFile: 'avatar.png' });
    expect((await importLines(dataDir, [line], images)).refusals).toEqual([]);
    await rm(join(dataDir, 'catalog-images'), { recursive: true });
    expect(await statusOf(`/${NEW}/avatar`)).toBe(502);
    expect(
      (await importLines(dataDir, [catalogLine(1, { avatarFile: 'avatar.png', title: 'Again' })], images)).refusals,
    ).toEqual([]);
    expect(await statusOf(`/${NEW}/avatar`)).toBe(200);
  });

  test('an unchanged channel, whose stored data stays', async () => {
    await put({ title: 'The newcomer' });
    for (const url of [byId, `/channel/${SAMPLE}`, `/${SAMPLE}/avatar`]) await app.get(url);
    await put({ title: 'The newcomer' });
    await put({ title: 'Another' }, 2);
    for (const url of [byId, `/channel/${SAMPLE}`, `/${SAMPLE}/avatar`]) {
      expect(await cacheStatusOf(url)).toMatch(HIT);
    }
  });

  test('a change that was made while the service was stopped', async () => {
    for (const url of [byId, `/channel/${SAMPLE}`]) await app.get(url);
    await app.close();
    await put({ title: 'The newcomer' });
    remove(SAMPLE);
    app = await start();
    expect([await titleOf(byId), await statusOf(`/channel/${SAMPLE}`)]).toEqual(['The newcomer', 404]);
  });

  test('the creation of the first catalog, which counts as no change', async () => {
    expect(await statusOf(`/channel/${SAMPLE}`)).toBe(200);
    expect(await cacheStatusOf(`/channel/${SAMPLE}`)).toMatch(HIT);
  });

  test('once only, also if the removal had to be retried', async () => {
    await app.get(`/channel/${SAMPLE}`);
    await app.close();
    app = await start();
    remove(SAMPLE);
    const other = new DatabaseSync(join(dataDir, 'cache.db'));
    other.exec('BEGIN IMMEDIATE');
    await app.get(byId);
    const conditions = async () => (await app.readiness()).conditions.map(({ name }) => name);
    await expect.poll(conditions).toContain('removal');
    other.exec('COMMIT');
    other.close();
    app.clock.advance(1_000);
    await expect.poll(conditions).not.toContain('removal');
    await put({ title: 'Another' }, 2);
    expect(await titleOf(`/channel/${numberedChannelId(2)}`)).toBe('Another');
    await app.close();
    const { catalog } = openSavedRemovals(dataDir, createLogger({ level: 'silent' })).state();
    const latest = inspectCatalog(catalogPaths(dataDir).database, (db) => readChangesSince(db, catalog));
    expect(latest?.changes).toEqual([]);
  });

  test('once only: a start without further changes keeps all stored data', async () => {
    await put({ title: 'The newcomer' });
    await app.get(byId);
    await app.close();
    app = await start();
    expect(await cacheStatusOf(byId)).toMatch(HIT);
  });
});

describe('a catalog beside another source', () => {
  let live: HeldSource;
  beforeEach(async () => {
    await app.close();
    live = createHeldSource();
    app = await start({ sources: [createCatalogSource({ dataDir, samplesDir: null }), live] });
  });

  test('changes only the stored data of channels that are imported', async () => {
    const [record, byHandle] = [`/channel/${HELD_CHANNEL_ID}`, `/api/channel/${HELD_HANDLE}?type=handle`];
    for (const url of [record, byHandle]) expect(await titleOf(url)).toBe('old title');
    await put({ title: 'The newcomer' });
    for (const url of [record, byHandle]) expect(await cacheStatusOf(url)).toMatch(HIT);
    await put({ channelId: HELD_CHANNEL_ID, title: 'From the catalog', customUrl: `@${HELD_HANDLE}` });
    for (const url of [record, byHandle]) expect(await titleOf(url)).toBe('From the catalog');
    remove(HELD_CHANNEL_ID);
    for (const url of [record, byHandle]) expect(await titleOf(url)).toBe('old title');
  });

  test('prevents a load that began before an import from being stored', async () => {
    const held = live.hold();
    const before = app.get(`/channel/${HELD_CHANNEL_ID}`);
    await held.asked;
    await put({ channelId: HELD_CHANNEL_ID, title: 'From the catalog' });
    const after = app.get(`/channel/${HELD_CHANNEL_ID}`);
    held.release();
    expect([(await before).json(), (await after).json()]).toMatchObject([
      { title: 'old title' },
      { title: 'From the catalog' },
    ]);
    expect(await titleOf(`/channel/${HELD_CHANNEL_ID}`)).toBe('From the catalog');
  });
});
