import { readFile, rename, rm, truncate } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { LOOK_INTERVAL_MS } from '../../src/sources/catalog/changes.ts';
import { catalogPaths } from '../../src/sources/catalog/schema.ts';
import { openCatalogWriter } from '../../src/sources/catalog/writer.ts';
import { startTestApp, type TestApp } from '../helpers/app.ts';
import { catalogLine, importLines, writeImages } from '../helpers/catalog.ts';
import { createFakeEncoder } from '../helpers/fake-encoder.ts';
import {
  createHeldSource,
  HELD_CHANNEL_ID,
  HELD_HANDLE,
  type HeldSource,
  numberedChannelId,
} from '../helpers/fake-source.ts';
import { createDataDir } from '../helpers/started-data-dir.ts';
import { createTemporaryDirectory } from '../helpers/temporary-directory.ts';
import { drawTestCard } from '../helpers/test-card.ts';

const SAMPLE = 'UCPennantSample00000001A';
const NEW = numberedChannelId(1);
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

let dataDir: string;
let app: TestApp;
beforeEach(async () => {
  dataDir = await createDataDir();
});

async function start(options: Parameters<typeof startTestApp>[0] = {}): Promise<void> {
  app = await startTestApp({ dataDir, encoder: createFakeEncoder(), ...options });
  onTestFinished(() => app.close());
}

/** Changes the catalog as a command does, which ends a tenth of a second after its last commit. */
async function put(fields: Record<string, unknown>, number = 1, imagesFrom?: string): Promise<void> {
  expect((await importLines(dataDir, [catalogLine(number, fields)], imagesFrom)).refusals).toEqual([]);
  app.clock.advance(LOOK_INTERVAL_MS);
}

function remove(channelId: string): void {
  const writer = openCatalogWriter(catalogPaths(dataDir));
  writer.remove(channelId);
  writer.removeLeftovers();
  writer.close();
  app.clock.advance(LOOK_INTERVAL_MS);
}

const statusOf = async (url: string) => (await app.get(url)).status;
const titleOf = async (url: string) => (await app.get(url)).json<{ title: string }>().title;
const idsIn = async (url: string) =>
  (await app.get(url)).json<{ results: { channelId: string }[] }>().results.map(({ channelId }) => channelId);
const fieldsOf = async (url: string) => {
  const { status, headers } = await app.get(url);
  return [status, headers['cache-control'], headers['cache-status']];
};

const OWN_FIELDS = [200, 'public, max-age=3600', undefined];

describe('a change of the catalog by another process is visible to the next request', () => {
  beforeEach(() => start());

  const [byId, byHandle, byName] = [`/channel/${NEW}`, '/api/channel/newcomer?type=handle', '/user/oldname'];
  const search = '/api/search?q=newcomer';

  test('a new channel, although it was reported as absent a moment ago', async () => {
    for (const url of [byId, byHandle, byName]) {
      expect([url, ...(await fieldsOf(url))]).toEqual([url, 404, 'public, max-age=60', undefined]);
    }
    expect(await idsIn(search)).toEqual([]);
    await put({ title: 'The newcomer', customUrl: '@Newcomer', username: 'OldName' });
    for (const url of [byId, byHandle, byName]) expect([url, ...(await fieldsOf(url))]).toEqual([url, ...OWN_FIELDS]);
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

  test('a removed channel, whose images are not served any more', async () => {
    expect(await statusOf(`/${SAMPLE}/avatar`)).toBe(200);
    remove(SAMPLE);
    for (const url of [`/channel/${SAMPLE}`, `/${SAMPLE}/avatar`, '/@pennantsample/tv']) {
      expect([url, await statusOf(url)]).toEqual([url, 404]);
    }
  });

  test('an image that could not be read a moment ago', async () => {
    const images = await writeImages(await createTemporaryDirectory(), {
      'avatar.png': await drawTestCard({ width: 64, height: 64 }).png().toBuffer(),
    });
    await put({ avatarFile: 'avatar.png' }, 1, images);
    await rm(catalogPaths(dataDir).images, { recursive: true });
    expect(await statusOf(`/${NEW}/avatar`)).toBe(502);
    await put({ avatarFile: 'avatar.png', title: 'Again' }, 1, images);
    expect(await statusOf(`/${NEW}/avatar`)).toBe(200);
  });

  test('a change that was made while the service was stopped', async () => {
    expect([await statusOf(byId), await statusOf(`/channel/${SAMPLE}`)]).toEqual([404, 200]);
    await app.close();
    await put({ title: 'The newcomer' });
    remove(SAMPLE);
    await start();
    expect([await titleOf(byId), await statusOf(`/channel/${SAMPLE}`)]).toEqual(['The newcomer', 404]);
  });

  test('also while an import is not complete: then the catalog is as before', async () => {
    await put({ title: 'The newcomer' });
    const writer = openCatalogWriter(catalogPaths(dataDir));
    app.clock.advance(LOOK_INTERVAL_MS);
    expect(await titleOf(byId)).toBe('The newcomer');
    writer.close();
  });
});

test('own channels are kept nowhere: not in cache.db, and a request of the same second is repeated', async () => {
  await start();
  for (const url of [`/channel/${SAMPLE}`, '/@pennantsample', '/api/search?q=pennant', `/api/badge/${SAMPLE}`]) {
    for (let time = 0; time < 2; time += 1) expect([url, await statusOf(url)]).toEqual([url, 200]);
  }
  await app.close();
  const cache = await readFile(join(dataDir, 'cache.db'), 'latin1');
  expect(cache).not.toContain(SAMPLE);
});

describe('a catalog beside another source', () => {
  let live: HeldSource;
  const env = { SOURCES: 'catalog,youtube', SAMPLE_CATALOG: 'off' };
  beforeEach(async () => {
    live = createHeldSource();
    await start({ env, sources: [live] });
  });

  const [record, byHandle] = [`/channel/${HELD_CHANNEL_ID}`, `/api/channel/${HELD_HANDLE}?type=handle`];
  const own = { channelId: HELD_CHANNEL_ID, title: 'From the catalog' };

  test('is asked first, and again with the ID that a fetched name leads to', async () => {
    for (const url of [record, byHandle]) expect(await titleOf(url)).toBe('old title');
    await put(own);
    for (const url of [record, byHandle]) {
      expect(await titleOf(url)).toBe('From the catalog');
      expect(await fieldsOf(url)).toEqual(OWN_FIELDS);
    }
    remove(HELD_CHANNEL_ID);
    for (const url of [record, byHandle]) expect(await titleOf(url)).toBe('old title');
  });

  test('costs other channels nothing when it changes: what was fetched stays', async () => {
    const search = '/api/search?q=title';
    for (const url of [record, byHandle, search]) await app.get(url);
    live.title = 'new title';
    await put({ title: 'Another title' });
    for (const url of [record, byHandle, search]) expect((await fieldsOf(url))[2]).toMatch(/^pennant; hit/);
    expect(await idsIn(search)).toEqual([NEW, HELD_CHANNEL_ID]);
    remove(NEW);
    expect(await idsIn(search)).toEqual([HELD_CHANNEL_ID]);
  });

  test('gives a channel that was loaded meanwhile back to the catalog', async () => {
    const held = live.hold();
    const before = app.get(record);
    await held.asked;
    await put(own);
    const after = app.get(record);
    held.release();
    expect([(await before).json().title, (await after).json().title]).toEqual(['old title', 'From the catalog']);
    expect(await titleOf(record)).toBe('From the catalog');
  });

  test('makes its channels never stale, whatever fails', async () => {
    await put({ ...own, customUrl: `@${HELD_HANDLE}` });
    for (const url of [record, byHandle]) await app.get(url);
    app.clock.advance(2 * HOUR_MS);
    const held = live.hold();
    for (const url of [record, byHandle]) expect(await fieldsOf(url)).toEqual(OWN_FIELDS);
    held.release();
  });

  describe('while it cannot be read', () => {
    const { database } = { database: 'catalog.db' };
    const conditions = async () => (await app.readiness()).conditions.map(({ name }) => name);

    beforeEach(async () => {
      await put({ title: 'Ours' });
      expect(await titleOf(`/channel/${NEW}`)).toBe('Ours');
      await truncate(join(dataDir, database));
      app.clock.advance(LOOK_INTERVAL_MS);
    });

    test('its channels and "no such channel" are a 503, and others can be cached for a minute', async () => {
      expect((await fieldsOf(`/channel/${NEW}`)).slice(0, 2)).toEqual([503, 'no-store']);
      expect(await statusOf('/api/channel/nobody?type=handle')).toBe(503);
      for (const url of [record, byHandle]) {
        expect((await fieldsOf(url)).slice(0, 2)).toEqual([200, 'public, max-age=60']);
      }
      const badge = (await app.get(`/api/badge/${HELD_CHANNEL_ID}`)).headers['cache-control'];
      expect(badge).toBe('public, max-age=60');
      const batch = await app.get(`/api/channels?ids=${HELD_CHANNEL_ID},${NEW}`);
      expect(batch.json<{ results: object[] }>().results).toMatchObject([
        { channel: { title: 'old title' } },
        { error: { status: 503, code: 'upstream_unavailable' } },
      ]);
      expect(await conditions()).toContain('catalog');
    });

    test('an absence is asked for once a minute, as always', async () => {
      let asked = 0;
      const { getChannel } = live;
      live.getChannel = (...given) => {
        asked += 1;
        return getChannel(...given);
      };
      for (let time = 0; time < 5; time += 1) {
        expect(await statusOf(`/channel/${NEW}`)).toBe(503);
        app.clock.advance(MINUTE_MS / 6);
      }
      expect(asked).toBe(1);
    });

    test('and when it is put right, everything is as before at the next request', async () => {
      expect([await statusOf(`/channel/${NEW}`), await statusOf(record)]).toEqual([503, 200]);
      const backup = await createTemporaryDirectory();
      await importLines(backup, [catalogLine(1, { title: 'Restored' })]);
      for (const suffix of ['-wal', '-shm']) await rm(join(dataDir, database + suffix), { force: true });
      await rename(join(backup, database), join(dataDir, database));
      app.clock.advance(3_000);
      expect(await titleOf(`/channel/${NEW}`)).toBe('Restored');
      expect(await fieldsOf(record)).toEqual([200, 'public, max-age=3597', expect.stringContaining('hit')]);
      expect(await conditions()).not.toContain('catalog');
    });
  });
});
