import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { createSharedImages } from '../../src/image-store/shared-images.ts';
import type { RedisConnection } from '../../src/lib/redis/connection.ts';
import { changeOfChannels, createChanges, EVERYTHING } from '../../src/store/changes.ts';
import { createRedisStore } from '../../src/store/redis.ts';
import { CHANGES_KEY, createSharedChanges } from '../../src/store/shared-changes.ts';
import { startTestApp, type TestApp } from '../helpers/app.ts';
import { createFakeEncoder } from '../helpers/fake-encoder.ts';
import { createHeldSource, HELD_CHANNEL_ID, type HeldSource } from '../helpers/fake-source.ts';
import { connectTo, createRedisClock, findRedisServer, type RedisServer, startRedisServer } from '../helpers/redis.ts';
import { createTemporaryDirectory } from '../helpers/temporary-directory.ts';

const ID = 'UCgone_________________A';
const KEY = `channel1:${ID}`;
const IMAGE_KEY = `image2/${ID}/0123/0,0,1,1/1x1/default.webp`;
const IMAGE = Buffer.from('RIFFxxxxWEBP and more');
const CHANGE = changeOfChannels(new Set([ID]));
const ENTRY = { value: '{"value":"old"}', storedAtMs: 1 };
const HOUR_MS = 3_600_000;
/** How often an instance reads the changes of others. */
const LOOK_MS = 500;

describe.skipIf(!findRedisServer())('changes that instances share', () => {
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

  /** The parts of an instance that handle changes. */
  function createInstance(startPosition?: string) {
    const changes = createChanges();
    const refused: string[] = [];
    const sharedChanges = createSharedChanges({
      connection,
      changes,
      startPosition,
      onRefused: () => refused.push(CHANGES_KEY),
    });
    const shared = { connection, changes, sharedChanges };
    const store = createRedisStore(shared);
    return {
      changes,
      sharedChanges,
      store,
      images: createSharedImages({ ...shared, maxImageBytes: 100 }),
      refused,
    };
  }

  const changesOf = (announced: readonly { readonly change: unknown }[]) => announced.map(({ change }) => change);

  test('reach the other instances once, and not the instance that published them', async () => {
    const [first, second] = [createInstance(), createInstance()];
    await first.sharedChanges.publish(first.changes.announce(CHANGE));
    const named = { ...CHANGE, names: new Set(['handle:gone']), searches: 'all', includesImages: false } as const;
    await first.sharedChanges.publish(first.changes.announce(named));
    await first.sharedChanges.publish(first.changes.announce(EVERYTHING));
    expect(changesOf(await second.sharedChanges.receive())).toEqual([CHANGE, named, EVERYTHING]);
    expect(await second.sharedChanges.receive()).toEqual([]);
    expect(await first.sharedChanges.receive()).toEqual([]);
    expect(first.sharedChanges.position()).toBe(second.sharedChanges.position());
  });

  test('of many channels arrive complete', async () => {
    const [first, second] = [createInstance(), createInstance()];
    const ids = Array.from({ length: 2_500 }, (_, number) => `UC${String(number).padStart(22, '0')}`);
    await first.sharedChanges.publish(first.changes.announce(changeOfChannels(new Set(ids))));
    const received = (await second.sharedChanges.receive()).flatMap(({ change }) => [...change.channelIds]);
    expect(received).toEqual(ids);
  });

  test('that were published while an instance was disconnected are read from where it stopped', async () => {
    const first = createInstance();
    await first.sharedChanges.publish(first.changes.announce(EVERYTHING));
    const before = createInstance();
    await before.sharedChanges.receive();
    await first.sharedChanges.publish(first.changes.announce(CHANGE));
    const after = createInstance(before.sharedChanges.position());
    expect(changesOf(await after.sharedChanges.receive())).toEqual([CHANGE]);
  });

  test('that were trimmed before an instance reconnected count as a change of everything', async () => {
    const [first, second] = [createInstance(), createInstance()];
    await first.sharedChanges.publish(first.changes.announce(CHANGE));
    await second.sharedChanges.receive();
    for (let count = 0; count < 1_300; count += 1) await first.sharedChanges.publish(first.changes.announce(CHANGE));
    expect(changesOf(await second.sharedChanges.receive())).toEqual([EVERYTHING]);
    expect(await second.sharedChanges.receive()).toEqual([]);
    await first.sharedChanges.publish(first.changes.announce(CHANGE));
    expect(changesOf(await second.sharedChanges.receive())).toEqual([CHANGE]);
  });

  test('that Redis lost are published again', async () => {
    const [first, second] = [createInstance(), createInstance()];
    await first.sharedChanges.publish(first.changes.announce(EVERYTHING));
    for (const { sharedChanges } of [first, second]) await sharedChanges.receive();
    await first.sharedChanges.publish(first.changes.announce(CHANGE));
    await first.sharedChanges.receive();
    await server.command('FLUSHALL');
    await first.sharedChanges.receive();
    expect(changesOf(await second.sharedChanges.receive())).toContainEqual(CHANGE);
  });

  test.each([
    ['another type', ['SET', CHANGES_KEY, 'text'], 0],
    ['text that is not JSON', ['XADD', CHANGES_KEY, '*', 'change', 'text'], 1],
    ['JSON that is not a change', ['XADD', CHANGES_KEY, '*', 'change', '{"by":"x","channelIds":["../x"]}'], 1],
  ])('are received although their key holds %s', async (_what, command, refused) => {
    await server.command(...command);
    const [first, second] = [createInstance(), createInstance()];
    await second.store.set(KEY, ENTRY, HOUR_MS);
    await first.sharedChanges.publish(first.changes.announce(CHANGE));
    expect(changesOf(await second.sharedChanges.receive())).toEqual([CHANGE]);
    expect(second.refused).toHaveLength(refused);
  });

  test('prevent instances that have not read them yet from storing anything', async () => {
    const [first, second] = [createInstance(), createInstance()];
    await first.sharedChanges.publish(first.changes.announce(CHANGE));
    await second.store.set(KEY, ENTRY, HOUR_MS);
    await second.images.set(IMAGE_KEY, IMAGE);
    expect(await server.command('KEYS', '*')).toEqual([CHANGES_KEY]);
    await second.sharedChanges.receive();
    await second.store.set(KEY, ENTRY, HOUR_MS);
    await second.images.set(IMAGE_KEY, IMAGE);
    expect(await second.store.get(KEY)).toEqual(ENTRY);
    expect(await second.images.get(IMAGE_KEY)).toEqual(IMAGE);
  });

  test('hide older entries that are not erased yet on every instance', async () => {
    const [first, second] = [createInstance(), createInstance()];
    await second.store.set(KEY, ENTRY, HOUR_MS);
    await second.store.set('channel1:UCkept_________________A', ENTRY, HOUR_MS);
    await second.images.set(IMAGE_KEY, IMAGE);
    const announced = first.changes.announce(CHANGE);
    expect(await first.store.get(KEY)).toBeUndefined();
    await first.sharedChanges.publish(announced);
    await second.sharedChanges.receive();
    for (const { store, images } of [first, second]) {
      expect([await store.get(KEY), await images.get(IMAGE_KEY)]).toEqual([undefined, undefined]);
      expect(await store.get('channel1:UCkept_________________A')).toEqual(ENTRY);
    }
    await second.store.set(KEY, { ...ENTRY, value: 'new' }, HOUR_MS);
    for (const { store } of [first, second]) expect((await store.get(KEY))?.value).toBe('new');
  });

  test('do not prevent the instance that published them from storing at once', async () => {
    const { changes, sharedChanges, store } = createInstance();
    await sharedChanges.publish(changes.announce(CHANGE));
    await store.set(KEY, ENTRY, HOUR_MS);
    expect(await store.get(KEY)).toEqual(ENTRY);
  });

  test('keep newer entries when older ones are erased', async () => {
    const { changes, sharedChanges, store } = createInstance();
    const [other, search] = ['name1:handle:gone', 'search1:nothing'];
    for (const key of [KEY, other, search]) await store.set(key, { ...ENTRY, value: `{"value":"${ID}"}` }, HOUR_MS);
    const announced = changes.announce(CHANGE);
    await sharedChanges.publish(announced);
    await store.set(KEY, { ...ENTRY, value: 'new' }, HOUR_MS);
    expect((await store.erase(CHANGE, announced.position)).toSorted()).toEqual([other, search]);
    expect((await store.get(KEY))?.value).toBe('new');
    expect(await store.erase(CHANGE)).toEqual([KEY]);
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
