import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { createEpochs } from '../../src/lib/epoch.ts';
import type { RedisConnection } from '../../src/lib/redis/connection.ts';
import { createRedisStore, REMOVALS_KEY } from '../../src/store/redis.ts';
import { EVERYTHING, removalOf } from '../../src/store/removal.ts';
import { startTestApp, type TestApp } from '../helpers/app.ts';
import { createFakeEncoder } from '../helpers/fake-encoder.ts';
import { createHeldSource, HELD_CHANNEL_ID, type HeldSource } from '../helpers/fake-source.ts';
import { connectTo, createRedisClock, findRedisServer, type RedisServer, startRedisServer } from '../helpers/redis.ts';
import { createTemporaryDirectory } from '../helpers/temporary-directory.ts';

const ID = 'UCgone_________________A';
const KEY = `channel1:${ID}`;
const IMAGE = Buffer.from('RIFFxxxxWEBP and more');
const REMOVAL = removalOf([ID]);
/** What the stream says about an erasure. */
const TOLD = { ...REMOVAL, names: [] };
const ENTRY = { value: '{"value":"old"}', storedAtMs: 1 };
const HOUR_MS = 3_600_000;
/** How often an instance reads the erasures of others. */
const LOOK_MS = 500;

describe.skipIf(!findRedisServer())('erasures that instances share', () => {
  let server: RedisServer;
  let connection: RedisConnection;
  beforeAll(async () => {
    server = await startRedisServer();
    connection = await connectTo(server);
  });
  beforeEach(() => server.command('FLUSHALL'));
  afterAll(async () => {
    connection?.close();
    await server?.remove();
  });

  /** The store of an instance that has read what was erased before. */
  async function createInstance(startPosition?: string) {
    const epochs = createEpochs();
    const refused: string[] = [];
    const store = createRedisStore({ connection, epochs, startPosition, onRefused: (key) => refused.push(key) });
    if (startPosition === undefined) await store.receive();
    return { epochs, refused, ...store };
  }

  test('reach the other instances, end their epoch, and empty the shared entries', async () => {
    const [first, second] = [await createInstance(), await createInstance()];
    await second.set(KEY, ENTRY, HOUR_MS);
    await second.set('search2:words', ENTRY, HOUR_MS);
    const before = second.epochs.current();
    expect(await first.erase(REMOVAL)).toEqual({ channel: 1, search: 1 });
    expect(await second.get(KEY)).toBeUndefined();
    expect(before.hasEnded).toBe(false);
    expect(await second.receive()).toEqual([TOLD]);
    expect(before.hasEnded).toBe(true);
    expect(await second.receive()).toEqual([]);
    expect(second.position()).toBe(first.position());
    expect(await second.get('search2:words')).toBeUndefined();
  });

  test('of many channels arrive complete', async () => {
    const [first, second] = [await createInstance(), await createInstance()];
    const ids = Array.from({ length: 2_500 }, (_, number) => `UC${String(number).padStart(22, '0')}`);
    await first.erase(removalOf(ids));
    expect((await second.receive()).flatMap(({ channelIds }) => channelIds)).toEqual(ids);
  });

  test('that happened while an instance was stopped are read from where it stopped', async () => {
    const [first, before] = [await createInstance(), await createInstance()];
    await first.erase(REMOVAL);
    const after = await createInstance(before.position());
    expect(await after.receive()).toEqual([TOLD]);
  });

  test('that were trimmed before an instance came back count as an erasure of everything', async () => {
    const [first, second] = [await createInstance(), await createInstance()];
    for (let count = 0; count < 1_300; count += 1) await first.erase(REMOVAL);
    expect(await second.receive()).toEqual([EVERYTHING]);
    expect(await second.receive()).toEqual([]);
    await first.set(KEY, ENTRY, HOUR_MS);
    expect(await second.get(KEY)).toEqual(ENTRY);
  });

  test('count as an erasure of everything for an instance that comes back after Redis lost them', async () => {
    const [first, stopped] = [await createInstance(), await createInstance()];
    await first.erase(REMOVAL);
    await server.command('FLUSHALL');
    await first.receive();
    const after = await createInstance(stopped.position());
    expect(await after.receive()).toEqual([EVERYTHING]);
  });

  test('happen again, for everything, when Redis was restored from an earlier state', async () => {
    const [first, second] = [await createInstance(), await createInstance()];
    await first.set(KEY, ENTRY, HOUR_MS);
    const position = first.position() ?? '';
    await first.erase(REMOVAL);
    await second.receive();
    // The state before the erasure.
    await server.command('FLUSHALL');
    await server.command('XADD', REMOVALS_KEY, position, 'removal', JSON.stringify(removalOf([])));
    await server.command('SET', `pennant:${KEY}`, '1 {"value":"old"}');
    expect(await second.receive()).toEqual([EVERYTHING]);
    expect(await second.get(KEY)).toBeUndefined();
    expect(await first.receive()).toContainEqual(EVERYTHING);
    await first.set(KEY, ENTRY, HOUR_MS);
    expect(await second.get(KEY)).toEqual(ENTRY);
  });

  test.each([
    ['another type', ['SET', REMOVALS_KEY, 'text'], [TOLD], 0],
    ['text that is not JSON', ['XADD', REMOVALS_KEY, '*', 'removal', 'text'], [EVERYTHING, TOLD], 1],
    [
      'JSON that is no removal',
      ['XADD', REMOVALS_KEY, '*', 'removal', '{"channelIds":["../x"]}'],
      [EVERYTHING, TOLD],
      1,
    ],
  ])('are received although their key holds %s', async (what, command, expected, refused) => {
    const [first, second] = [await createInstance(), await createInstance()];
    await server.command(...command);
    await first.erase(REMOVAL);
    const received = await second.receive();
    // Without the stream, an instance cannot know what it has missed.
    expect(received).toEqual(what === 'another type' ? [EVERYTHING] : expected);
    expect(second.refused).toHaveLength(refused);
  });

  test('prevent instances that have not read them yet from storing anything', async () => {
    const [first, second] = [await createInstance(), await createInstance()];
    await first.erase(REMOVAL);
    await second.set(KEY, ENTRY, HOUR_MS);
    expect(await server.command('KEYS', '*')).toEqual([REMOVALS_KEY]);
    await second.receive();
    await second.set(KEY, ENTRY, HOUR_MS);
    expect(await second.get(KEY)).toEqual(ENTRY);
  });

  test('prevent an instance from storing anything before it has read them for the first time', async () => {
    const store = createRedisStore({
      connection,
      epochs: createEpochs(),
      startPosition: undefined,
      onRefused: () => undefined,
    });
    await store.set(KEY, ENTRY, HOUR_MS);
    expect(await store.get(KEY)).toBeUndefined();
  });

  test('do not prevent the instance that made them from storing at once', async () => {
    const store = await createInstance();
    await store.erase(REMOVAL);
    await store.set(KEY, ENTRY, HOUR_MS);
    expect(await store.get(KEY)).toEqual(ENTRY);
  });

  describe('between running instances', () => {
    async function startInstance(
      source: HeldSource,
      dataDir?: string,
    ): Promise<TestApp & { readonly dataDir: string }> {
      const directory = dataDir ?? (await createTemporaryDirectory());
      const instance = await startTestApp({
        dataDir: directory,
        sources: [source],
        clock: createRedisClock(),
        env: { REDIS_URL: server.url },
        downloader: { download: async () => IMAGE },
        encoder: createFakeEncoder({ info: { width: 900, height: 900, format: 'webp' }, encode: async () => IMAGE }),
      });
      onTestFinished(() => instance.close());
      return instance;
    }

    const AVATAR = { kind: 'remote', key: 'https://yt3.ggpht.com/a', urls: ['https://yt3.ggpht.com/a=s0'] } as const;
    const RECORD = `/channel/${HELD_CHANNEL_ID}`;
    const titleOf = async (instance: TestApp) => (await instance.get(RECORD)).json<{ title: string }>().title;

    async function countImages(dataDir: string): Promise<number> {
      const entries = await readdir(join(dataDir, 'images'), { recursive: true, withFileTypes: true });
      return entries.filter((entry) => entry.isFile()).length;
    }

    async function purge(instance: TestApp): Promise<void> {
      expect((await instance.purge({ channel: HELD_CHANNEL_ID })).status).toBe(200);
    }

    test('a purge reaches memory and disk of the other instances', async () => {
      const source = createHeldSource(AVATAR);
      const [first, second] = [await startInstance(source), await startInstance(source)];
      for (const instance of [first, second]) {
        await instance.get(`/${HELD_CHANNEL_ID}/avatar.avif`);
        expect(await titleOf(instance)).toBe('old title');
        await expect.poll(() => countImages(instance.dataDir)).toBeGreaterThan(0);
      }
      source.title = 'new title';
      await purge(first);
      expect(await titleOf(first)).toBe('new title');
      second.clock.advance(LOOK_MS);
      await expect.poll(() => countImages(second.dataDir)).toBe(0);
      expect(await titleOf(second)).toBe('new title');
    });

    test('a purge reaches an instance that was stopped when it starts again', async () => {
      const source = createHeldSource(AVATAR);
      const [first, stopped] = [await startInstance(source), await startInstance(source)];
      const { dataDir } = stopped;
      await stopped.get(`/${HELD_CHANNEL_ID}/avatar.avif`);
      await stopped.close();
      expect(await countImages(dataDir)).toBeGreaterThan(0);
      await purge(first);
      await startInstance(source, dataDir);
      await expect.poll(() => countImages(dataDir)).toBe(0);
    });

    test('a load that another instance began before a purge stores nothing in Redis', async () => {
      const source = createHeldSource();
      const [first, second] = [await startInstance(source), await startInstance(source)];
      const held = source.hold();
      const before = second.get(RECORD);
      await held.asked;
      source.title = 'new title';
      await purge(first);
      held.release();
      expect((await before).json()).toMatchObject({ title: 'old title' });
      await second.close();
      const keys = (await server.command('KEYS', 'pennant:channel*')) as string[];
      expect(keys).toEqual([]);
      expect(await titleOf(first)).toBe('new title');
    });
  });
});
