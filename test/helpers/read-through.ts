import { AppError } from '../../src/domain/errors.ts';
import type { Clock } from '../../src/lib/clock.ts';
import type { CachePolicy } from '../../src/store/entry.ts';
import { createReadThrough, type Loaded } from '../../src/store/read-through.ts';
import type { Store, StoredEntry } from '../../src/store/store.ts';
import { createManualClock } from './clock.ts';

export const HOUR_MS = 3_600_000;
export const WAIT = { softTimeoutMs: 50 };

/** A store in this process's memory. */
export function memoryStore(): Store & { readonly entries: Map<string, StoredEntry> } {
  const entries = new Map<string, StoredEntry>();
  return {
    isShared: false,
    entries,
    get: async (key) => entries.get(key),
    read: async (key) => entries.get(key),
    set: async (key, entry) => void entries.set(key, entry),
    close: async () => undefined,
  };
}

/** A cache without limits that matter to a test. */
export function testCache<V>(
  policy: CachePolicy<V>,
  { clock, store = memoryStore() }: { clock: Clock; store?: Store },
) {
  return createReadThrough<V>({
    policy,
    maxMemoryBytes: 1_000_000,
    storeTier: { store },
    clock,
  });
}

/** A cache of texts that are fresh for an hour and served for seven days. */
export function setUpReadThrough(store = memoryStore(), clock = createManualClock()) {
  const refused: string[] = [];
  const cache = createReadThrough<string>({
    policy: {
      isValue: (value): value is string => typeof value === 'string',
      freshMs: HOUR_MS,
      graceMs: 168 * HOUR_MS,
    },
    maxMemoryBytes: 1_000_000,
    storeTier: { store, onRefused: (key) => refused.push(key) },
    clock,
  });
  let loads = 0;
  const load =
    (value: string, more: Partial<Loaded<string>> = {}) =>
    async () => {
      loads += 1;
      return { value, ...more };
    };
  return { cache, store, clock, refused, load, loads: () => loads };
}

/** A load that fails. */
export const fail = async () => {
  throw new AppError('upstream_unavailable', 'down');
};
