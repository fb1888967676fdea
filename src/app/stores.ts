import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { getHeapStatistics } from 'node:v8';
import { Counter, Gauge } from '@prometheus-io/client';
import { type CacheFile, cachePaths, createCacheFile } from '../cache/cache-file.ts';
import { createImageTable, IMAGE_SCHEMA } from '../cache/image-table.ts';
import { createImages, type Images } from '../cache/images.ts';
import type { Config } from '../config/settings.ts';
import { withinMs } from '../lib/deadlines.ts';
import { addBoundGauges } from '../lib/metrics.ts';
import { createRedisConnection, type RedisConnection } from '../lib/redis/connection.ts';
import type { Runtime } from '../lib/runtime.ts';
import { filesOfDatabase } from '../lib/sqlite.ts';
import { CACHE_POLICY, type Caches, IMAGE_MEMORY_SHARE } from '../services/cache-policy.ts';
import type { CachePolicy } from '../store/entry.ts';
import { createFailSoftStore, type FailSoftStore } from '../store/fail-soft.ts';
import { ENTRY_KINDS, findEntryKind } from '../store/keys.ts';
import { createReadThrough } from '../store/read-through.ts';
import { chooseStoreDriver } from '../store/registry.ts';
import { databasePath } from '../store/sqlite.ts';
import type { BackingStore } from '../store/store.ts';

/** A read from the store. After this time the value counts as absent. */
export const STORE_READ_MS = 500;

/** All caches and stores, in memory, on disk and in Redis. */
export interface Stores {
  /** With `REDIS_URL` only. */
  readonly redis: RedisConnection | undefined;
  /** `cache.db` or Redis. */
  readonly backingStore: BackingStore;
  /** The same store. Its failures are misses. */
  readonly store: FailSoftStore;
  readonly cacheFile: CacheFile;
  readonly images: Images;
  readonly caches: Caches;
  /** Settles when stored values can be found, or after some seconds. */
  opened(): Promise<unknown>;
  /** Finishes the writes. */
  close(): Promise<void>;
}

/** The share of V8's heap limit that all values in memory may have together. */
const MAX_HEAP_SHARE = 0.4;
const VALUES_MEMORY_SHARE = 1 - IMAGE_MEMORY_SHARE;
/** On a busy machine a thread starts slowly. Until then, stored values would look absent. */
const STORE_OPEN_MS = 5_000;

export async function createStores(config: Config, runtime: Runtime): Promise<Stores> {
  const { clock, health, metrics, refusedValues } = runtime;
  const redis =
    config.redisUrl &&
    (await createRedisConnection({
      address: config.redisUrl,
      clock,
      onStateChange: (problem) => health.report('redis', problem === null ? null : `not used (${problem})`),
    }));
  const backingStore = chooseStoreDriver(config).open({ runtime, connection: redis, onRefused });
  // The first lookup starts its thread. A store that cannot be opened is reported with the first request.
  const opening = backingStore.get('opening').catch(() => undefined);
  const deleting = redis && deleteCacheDatabase(config, runtime);
  const store = createFailSoftStore({
    store: backingStore,
    runtime,
    readTimeoutMs: STORE_READ_MS,
  });
  const { database, originals } = cachePaths(config.dataDir);
  const cacheFile = createCacheFile({ path: database, schema: IMAGE_SCHEMA, component: 'images', runtime });
  const table = createImageTable({ file: cacheFile, folder: originals, maxBytes: config.imageCacheBytes, runtime });
  const images = createImages({
    table,
    maxMemoryBytes: Math.floor(config.memoryCacheBytes * IMAGE_MEMORY_SHARE),
    runtime,
  });

  for (const kind of [...ENTRY_KINDS, 'limit']) refusedValues.inc({ kind }, 0);

  /** Counts damaged or foreign values. */
  function onRefused(key: string): void {
    refusedValues.inc({ kind: findEntryKind(key) ?? 'kept' });
  }

  // Values are in the heap that V8 collects, which has a limit of its own; images are outside of it.
  const heapBytes = (MAX_HEAP_SHARE * getHeapStatistics().heap_size_limit) / VALUES_MEMORY_SHARE;

  function createCache<Value>(name: string, policy: CachePolicy<Value> & { readonly memoryShare: number }) {
    const maxMemoryBytes = Math.floor(Math.min(config.memoryCacheBytes, heapBytes) * policy.memoryShare);
    const cache = createReadThrough<Value>({
      policy,
      maxMemoryBytes,
      storeTier: { store, onRefused },
      clock,
    });
    addBoundGauges(metrics, `pennant_${name}_in_memory`, `${name} in memory`, () => cache.stats().memory);
    addBoundGauges(metrics, `pennant_loads_of_${name}`, `loads of ${name}`, () => cache.stats().loading);
    return cache;
  }

  const caches: Caches = {
    records: createCache('records', CACHE_POLICY.records),
    names: createCache('names', CACHE_POLICY.names),
    searches: createCache('searches', CACHE_POLICY.searches),
    originals: createCache('originals', CACHE_POLICY.originals),
  };

  new Gauge({
    name: 'pennant_memory_entries',
    help: 'Values in the memory tier.',
    labelNames: ['kind'],
    registers: [metrics],
    collect() {
      for (const [kind, { stats }] of Object.entries(caches)) this.set({ kind }, stats().memory.entries);
    },
  });
  if (redis !== undefined) addRedisMetrics(redis, runtime);

  return {
    redis,
    backingStore,
    store,
    cacheFile,
    images,
    caches,
    opened: () => withinMs(clock, Promise.all([opening, table.open(), deleting]), STORE_OPEN_MS),
    async close() {
      await Promise.all([store.close(), deleting]);
      cacheFile.close();
      redis?.close();
    },
  };
}

/** With Redis it is not used. A later start without Redis would serve what was removed meanwhile. */
async function deleteCacheDatabase({ dataDir }: Config, { logger }: Runtime): Promise<void> {
  const path = databasePath(dataDir);
  if (!existsSync(path)) return;
  try {
    // The database last, as long as there is a log.
    for (const file of filesOfDatabase(path).reverse()) await rm(file, { force: true });
    logger.info('cache.db is deleted: with REDIS_URL it is not used');
  } catch (error) {
    logger.warn({ err: error }, 'cache.db is not used with REDIS_URL, and cannot be deleted: delete it');
  }
}

function addRedisMetrics(redis: RedisConnection, { metrics }: Runtime): void {
  addBoundGauges(metrics, 'pennant_redis_commands', 'commands to Redis', () => redis.stats().commands);
  new Gauge({
    name: 'pennant_redis_usable',
    help: '1 while the shared Redis is used, 0 while this instance works alone.',
    registers: [metrics],
    collect() {
      this.set(redis.stats().isUsable ? 1 : 0);
    },
  });
  new Counter({
    name: 'pennant_redis_trouble_total',
    help: 'Commands to Redis that timed out, and outages of Redis.',
    labelNames: ['kind'],
    registers: [metrics],
    collect() {
      const { timeouts, outages } = redis.stats();
      this.reset();
      this.inc({ kind: 'timeout' }, timeouts);
      this.inc({ kind: 'outage' }, outages);
    },
  });
}
