import { getHeapStatistics } from 'node:v8';
import { type Cache, createCache } from '../cache/cache.ts';
import { cachePath } from '../cache/cache-file.ts';
import { createImageStore } from '../cache/image-store.ts';
import { createRedisStore } from '../cache/redis-store.ts';
import { createRows, createValueStore } from '../cache/rows.ts';
import type { Store } from '../cache/store.ts';
import { CACHE_POLICY, type Caches, IMAGE_MEMORY_SHARE } from '../cache/values.ts';
import type { Config } from '../config/settings.ts';
import { withinMs } from '../lib/deadlines.ts';
import { addBoundGauges, addCounter, addGauge } from '../lib/metrics.ts';
import { createRedisConnection, type RedisConnection } from '../lib/redis/connection.ts';
import type { Runtime } from '../lib/runtime.ts';

/** The quota of values in `cache.db`. */
const MAX_VALUE_BYTES = 512 * 2 ** 20;
/** The share of V8's heap limit that all values in memory may have together. */
const MAX_HEAP_SHARE = 0.4;
const VALUES_MEMORY_SHARE = 1 - IMAGE_MEMORY_SHARE;

/** A disk that hangs delays the start, and does not prevent it. */
const OPEN_MS = 5_000;

/** Everything that is kept: in memory, on disk and in Redis. */
export async function openStoredData(config: Config, runtime: Runtime) {
  const { clock, health, metrics } = runtime;
  const quotas = { values: MAX_VALUE_BYTES, images: config.imageCacheBytes };
  const rows = createRows({ path: cachePath(config.dataDir), quotas, runtime });
  await withinMs(clock, rows.shrink(), OPEN_MS);
  const values = createValueStore(rows);
  const maxMemoryBytes = Math.floor(config.memoryCacheBytes * IMAGE_MEMORY_SHARE);
  const images = createImageStore({ rows, maxMemoryBytes, runtime });
  const { redisUrl: url } = config;
  const onStateChange = (problem: string | null) =>
    health.report('redis', problem === null ? null : `not used (${problem})`);
  const redis = url === undefined ? undefined : await createRedisConnection({ url, clock, onStateChange });
  const store = redis === undefined ? values : createRedisStore(redis);
  const stores = redis === undefined ? [values] : [store, values];

  // Values are in the heap that V8 collects, which has a limit of its own; images are outside of it.
  const heapBytes = (MAX_HEAP_SHARE * getHeapStatistics().heap_size_limit) / VALUES_MEMORY_SHARE;

  function createKind<V>(name: keyof Caches, store: Store): Cache<V> {
    const policy = CACHE_POLICY[name];
    const maxMemoryBytes = Math.floor(Math.min(config.memoryCacheBytes, heapBytes) * policy.memoryShare);
    const cache = createCache<V>({ policy, store, maxMemoryBytes, clock });
    addBoundGauges(metrics, `pennant_${name}_in_memory`, `${name} in memory`, () => cache.stats().memory);
    addBoundGauges(metrics, `pennant_loads_of_${name}`, `loads of ${name}`, () => cache.stats().loads);
    addBoundGauges(metrics, `pennant_failed_${name}`, `failed ${name}`, () => cache.stats().failures);
    return cache;
  }

  const caches: Caches = {
    records: createKind('records', store),
    names: createKind('names', store),
    searches: createKind('searches', store),
    // Metadata of originals is not shared, because their bytes are on the disk of this instance.
    originals: createKind('originals', values),
  };

  if (redis !== undefined) addRedisMetrics(redis, runtime);

  return {
    /** With `REDIS_URL` only. */
    redis,
    /** Those that a purge empties. With Redis, `cache.db` is one of them: it has the images, and maybe values from a time without Redis. */
    stores,
    images,
    caches,
    /** Retries failed operations, so that a recovery needs no request. */
    retry: rows.retry,
    close(): void {
      rows.close();
      redis?.close();
    },
  };
}

function addRedisMetrics(redis: RedisConnection, { metrics }: Runtime): void {
  const usable = '1 while the shared Redis is used, 0 while this instance works alone.';
  addGauge(metrics, 'pennant_redis_usable', usable, () => (redis.stats().isUsable ? 1 : 0));
  const timeouts = 'Commands to Redis that timed out.';
  addCounter(metrics, 'pennant_redis_timeouts_total', timeouts, () => redis.stats().timeouts);
  const outages = 'Outages of Redis.';
  addCounter(metrics, 'pennant_redis_outages_total', outages, () => redis.stats().outages);
}
