import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import type { RedisClient } from '../../src/lib/redis/client.ts';
import { type RedisConnection, RedisUnavailable } from '../../src/lib/redis/connection.ts';
import { createRedisStore, EPOCH_KEY } from '../../src/store/redis.ts';
import type { ErasedEntries } from '../../src/store/removal.ts';
import { startForTest, type TestApp } from '../helpers/app.ts';
import { storedRowsIn } from '../helpers/disk-images.ts';
import { createFakeEncoder } from '../helpers/fake-encoder.ts';
import { createHeldSource, HELD_CHANNEL_ID, type HeldSource } from '../helpers/fake-source.ts';
import {
  connectTo,
  createRedisClock,
  findRedisServer,
  type RedisServer,
  reconnect,
  startRedisServer,
} from '../helpers/redis.ts';
import { createTemporaryDirectory } from '../helpers/temporary-directory.ts';

const ID = 'UCgone_________________A';
const KEY = `channel1:${ID}`;
const IMAGE = Buffer.from('RIFFxxxxWEBP and more');
const REMOVAL = { channelIds: [ID], names: [] };
const ENTRY = { value: '{"value":"old"}', storedAtMs: 1 };
const HOUR_MS = 3_600_000;
/** How often an instance reads the number of the epoch. */
const LOOK_MS = 500;

describe.skipIf(!findRedisServer())('the epoch that instances share', () => {
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

  function createInstance(given = connection) {
    const restored: ErasedEntries[] = [];
    const store = createRedisStore({
      connection: given,
      onRefused: () => undefined,
      onRestored: (erased) => restored.push(erased),
    });
    return { ...store, restored };
  }

  test('has one number for all instances, which rises with an erasure at any of them', async () => {
    const [first, second] = [createInstance(), createInstance()];
    const before = await first.readEpoch('');
    expect(await second.readEpoch('')).toBe(before);
    await second.set(KEY, { ...ENTRY, epoch: before }, HOUR_MS);
    await second.set('search1:words', { ...ENTRY, epoch: before }, HOUR_MS);
    const { erased, epoch } = await first.erase(REMOVAL, 'purge');
    expect([erased, await second.readEpoch(before)]).toEqual([{ channel: 1, search: 1 }, epoch]);
    await second.set(KEY, { ...ENTRY, epoch: before }, HOUR_MS);
    expect([await second.get(KEY), await second.get('search1:words')]).toEqual([undefined, undefined]);
  });

  test('begins a new series when Redis has lost its data', async () => {
    const [first, second] = [createInstance(), createInstance()];
    const { epoch: before } = await first.erase(REMOVAL, 'purge');
    await server.command('FLUSHALL');
    const after = await second.readEpoch(before);
    expect(after.split(':')[0]).not.toBe(before.split(':')[0]);
    await first.set(KEY, { ...ENTRY, epoch: before }, HOUR_MS);
    expect(await first.get(KEY)).toBeUndefined();
    expect([first.restored, second.restored]).toEqual([[], []]);
  });

  test('shows that Redis was restored from an earlier state: its values are erased, once', async () => {
    const [first, second] = [createInstance(), createInstance()];
    const before = await first.readEpoch('');
    await first.erase(REMOVAL, 'purge');
    const { epoch: known } = await first.erase(REMOVAL, 'purge');
    // The state before the erasures.
    await server.command('SET', EPOCH_KEY, before);
    await server.command('SET', `pennant:${KEY}`, '1 {"value":"old"}');
    await server.command('ZADD', `pennant:leads1:${ID}`, '1', 'pennant:name1:handle:gone');
    await server.command('SET', 'pennant:limit1:other', 'stays');
    const after = await second.readEpoch(known);
    expect(await first.readEpoch(known)).toBe(after);
    expect(second.restored.concat(first.restored)).toEqual([{ channel: 1 }]);
    expect(((await server.command('KEYS', '*')) as string[]).toSorted()).toEqual([EPOCH_KEY, 'pennant:limit1:other']);
    await first.set(KEY, { ...ENTRY, epoch: after }, HOUR_MS);
    expect(await second.get(KEY)).toEqual(ENTRY);
  });

  test('erases the values of a restored Redis again if Redis fails meanwhile', async () => {
    const before = await createInstance().readEpoch('');
    const { epoch: known } = await createInstance().erase(REMOVAL, 'purge');
    await server.command('SET', EPOCH_KEY, before);
    await server.command('SET', `pennant:${KEY}`, '1 {"value":"old"}');
    const failing = await connectTo(server);
    onTestFinished(() => failing.close());
    const unlinkFails = (redis: RedisClient) =>
      new Proxy(redis, {
        get: (target, name) =>
          name === 'unlink' ? () => Promise.reject(new Error('it fails')) : Reflect.get(target, name, target),
      });
    const first = createInstance({ ...failing, run: (command) => failing.run((redis) => command(unlinkFails(redis))) });
    await expect(first.readEpoch(known)).rejects.toThrow(RedisUnavailable);
    const second = createInstance();
    await second.readEpoch(known);
    expect([await second.get(KEY), second.restored]).toEqual([undefined, [{ channel: 1 }]]);
  });

  test.each([
    ['text', ['SET', EPOCH_KEY, 'text']],
    ['another type', ['RPUSH', EPOCH_KEY, 'item']],
  ])('begins a new series if its key holds %s', async (_what, command) => {
    const store = createInstance();
    const before = await store.readEpoch('');
    await server.command('DEL', EPOCH_KEY);
    await server.command(...command);
    await store.set(KEY, { ...ENTRY, epoch: before }, HOUR_MS);
    expect(await store.get(KEY)).toBeUndefined();
    const { epoch } = await store.erase(REMOVAL, 'purge');
    expect([epoch === before, await store.readEpoch(before)]).toEqual([false, epoch]);
  });

  describe('between running instances', () => {
    const calls = { downloads: 0, encodes: 0 };

    async function startInstance(
      source: HeldSource,
      dataDir?: string,
    ): Promise<TestApp & { readonly dataDir: string }> {
      const directory = dataDir ?? (await createTemporaryDirectory());
      return startForTest({
        dataDir: directory,
        sources: [source],
        clock: createRedisClock(),
        env: { REDIS_URL: server.url },
        downloader: {
          async download() {
            calls.downloads += 1;
            return IMAGE;
          },
        },
        encoder: createFakeEncoder({
          info: { width: 900, height: 900, format: 'webp' },
          async encode() {
            calls.encodes += 1;
            return IMAGE;
          },
        }),
      });
    }

    const AVATAR = { kind: 'remote', key: 'https://yt3.ggpht.com/a', urls: ['https://yt3.ggpht.com/a=s0'] } as const;
    const RECORD = `/channel/${HELD_CHANNEL_ID}`;
    const titleOf = async (instance: TestApp) => (await instance.get(RECORD)).json<{ title: string }>().title;

    const countImages = (dataDir: string) => storedRowsIn(dataDir).length;

    async function purge(instance: TestApp): Promise<void> {
      const { status, text } = await instance.purge({ channel: HELD_CHANNEL_ID });
      expect([status, text]).toEqual([200, expect.anything()]);
    }

    test('a purge reaches the memory of the other instances, and they load the original anew', async () => {
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
      expect(countImages(first.dataDir)).toBe(0);
      second.clock.advance(LOOK_MS);
      await expect.poll(() => titleOf(second)).toBe('new title');
      // The same original: the image that was made of it is right.
      const before = { ...calls };
      expect((await second.get(`/${HELD_CHANNEL_ID}/avatar.avif`)).status).toBe(200);
      expect(calls).toEqual({ downloads: before.downloads + 1, encodes: before.encodes });
    });

    test('an outage empties no memory, and a purge in it fails and says so', async () => {
      const source = createHeldSource();
      const instance = await startInstance(source);
      expect(await titleOf(instance)).toBe('old title');
      source.title = 'new title';
      await server.stop();
      const { status, text } = await instance.purge({ channel: '@nobody' });
      expect([status, text]).toEqual([503, expect.stringContaining('Try again when Redis works')]);
      instance.clock.advance(LOOK_MS);
      expect(await titleOf(instance)).toBe('old title');
      expect((await instance.purge({ channel: HELD_CHANNEL_ID })).status).toBe(503);
      // At least this instance has forgotten the channel.
      instance.clock.advance(1_000);
      expect(await titleOf(instance)).toBe('new title');
      await server.start();
      await reconnect(instance);
      expect((await instance.purge({ channel: HELD_CHANNEL_ID })).status).toBe(200);
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
