/** The part of `Map` that large tables need. */
export interface ShardedMap<V> {
  get(key: string): V | undefined;
  set(key: string, value: V): void;
  delete(key: string): void;
}

const SHARD_COUNT = 64;

/**
 * A map for up to millions of keys. A single `Map` of half a million entries stops the event loop for a tenth of a second
 * when it grows; each of these holds a sixty-fourth. Meant for keys that differ in their last characters, as addresses
 * and digests do.
 */
export function createShardedMap<V>(): ShardedMap<V> {
  const shards = Array.from({ length: SHARD_COUNT }, () => new Map<string, V>());

  function shardOf(key: string): Map<string, V> {
    const last = key.length - 1;
    const mixed = key.charCodeAt(last) + key.charCodeAt(last - 1) * 7 + key.charCodeAt(last - 2) * 31;
    // A mask, because a key of fewer than three characters makes this NaN, which a mask turns into 0.
    return shards[mixed & (SHARD_COUNT - 1)] as Map<string, V>;
  }

  return {
    get: (key) => shardOf(key).get(key),
    set(key, value) {
      shardOf(key).set(key, value);
    },
    delete(key) {
      shardOf(key).delete(key);
    },
  };
}
