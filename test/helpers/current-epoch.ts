import type { BackingStore, Store } from '../../src/store/store.ts';

/** The store for writers whose work has just begun. */
export function inCurrentEpoch<S extends BackingStore>(store: S): Omit<S, 'set'> & Pick<Store, 'set'> {
  return {
    ...store,
    set: async (key, entry, ttlMs) => store.set(key, { ...entry, epoch: await store.readEpoch('') }, ttlMs),
  };
}
