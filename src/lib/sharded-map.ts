import { createKeyedHash } from './keyed-hash.ts';

/** The part of `Map` that large tables need. */
export interface ShardedMap<V> {
  get(key: string): V | undefined;
  set(key: string, value: V): void;
  delete(key: string): void;
  stats(): { readonly entries: number; readonly largestShardEntries: number };
}

const SHARD_BITS = 6;

/**
 * A map for up to millions of keys of any form. A single `Map` of half a million entries blocks the event loop for tens
 * of milliseconds when it grows. Here the keys are spread over 64 maps that grow one at a time, and no client can choose
 * keys that share one of them.
 */
export function createShardedMap<V>(hash = createKeyedHash()): ShardedMap<V> {
  const shards = Array.from({ length: 1 << SHARD_BITS }, () => new Map<string, V>());

  function shardOf(key: string): Map<string, V> {
    return shards[hash(key) >>> (32 - SHARD_BITS)] as Map<string, V>;
  }

  return {
    get: (key) => shardOf(key).get(key),
    set(key, value) {
      shardOf(key).set(key, value);
    },
    delete(key) {
      shardOf(key).delete(key);
    },
    stats() {
      const sizes = shards.map(({ size }) => size);
      return { entries: sizes.reduce((sum, size) => sum + size, 0), largestShardEntries: Math.max(...sizes) };
    },
  };
}
