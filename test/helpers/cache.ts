import { type Cache, createCache } from '../../src/cache/cache.ts';
import type { CachePolicy } from '../../src/cache/entry.ts';
import type { Store } from '../../src/cache/store.ts';
import { AppError } from '../../src/domain/errors.ts';
import type { Clock } from '../../src/lib/clock.ts';

export const HOUR_MS = 3_600_000;
export const WAIT = { softTimeoutMs: 50 };

/** A store of a test, which closes it. */
export type OpenStore = Store & { close(): void };

/** A store in this process's memory. */
export function memoryStore(): Store & { readonly entries: Map<string, string> } {
  const entries = new Map<string, string>();
  return {
    name: 'memory',
    isShared: false,
    entries,
    get: async (key) => entries.get(key),
    set: async (key, text) => void entries.set(key, text),
    remove: async () => 0,
  };
}

/** A cache of any values, without limits that matter to a test. */
export function testCache<V>(
  policy: Pick<CachePolicy, 'freshMs' | 'graceMs'>,
  { clock, store = memoryStore() }: { clock: Clock; store?: Store },
): Cache<V> {
  return createCache<V>({ policy: { isValue: () => true, ...policy }, store, maxMemoryBytes: 1_000_000, clock });
}

/** A load that fails. */
export const fail = async () => {
  throw new AppError('upstream_unavailable', 'down');
};
