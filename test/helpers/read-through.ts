import { AppError } from '../../src/domain/errors.ts';
import { createChanges } from '../../src/store/changes.ts';
import { channelIdsIn } from '../../src/store/keys.ts';
import { createReadThrough, type Loaded } from '../../src/store/read-through.ts';
import type { Store, StoredEntry } from '../../src/store/store.ts';
import { createManualClock } from './clock.ts';

export const HOUR_MS = 3_600_000;
export const WAIT = { staleWaitMs: 50 };

interface TestStore extends Store {
  readonly entries: Map<string, StoredEntry>;
  /** The lifetime of each entry at its last write. */
  readonly ttlsMs: Map<string, number>;
  /** Keys that were read. */
  readonly reads: string[];
}

export function memoryStore({ isShared = false } = {}): TestStore {
  const entries = new Map<string, StoredEntry>();
  const ttlsMs = new Map<string, number>();
  const reads: string[] = [];
  return {
    isShared,
    entries,
    ttlsMs,
    reads,
    async get(key) {
      reads.push(key);
      return entries.get(key);
    },
    async set(key, entry, ttlMs) {
      entries.set(key, entry);
      ttlsMs.set(key, ttlMs);
    },
    close: async () => undefined,
  };
}

/** A cache of texts that are fresh for an hour and served for seven days. */
export function setUpReadThrough(store = memoryStore(), clock = createManualClock()) {
  const changes = createChanges();
  const refused: string[] = [];
  const cache = createReadThrough<string>({
    isValue: (value): value is string => typeof value === 'string',
    onRefused: (key) => refused.push(key),
    channelIdsOf: channelIdsIn,
    changes,
    store,
    clock,
    freshMs: HOUR_MS,
    staleMs: 168 * HOUR_MS,
    maxMemoryBytes: 1_000_000,
  });
  let loads = 0;
  const load =
    (value: string, more: Partial<Loaded<string>> = {}) =>
    async () => {
      loads += 1;
      return { value, ...more };
    };
  return { cache, changes, store, clock, refused, load, loads: () => loads };
}

/** A load that fails. */
export const fail = async () => {
  throw new AppError('upstream_unavailable', 'down');
};
