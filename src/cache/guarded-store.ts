import type { Clock } from '../lib/clock.ts';
import { withinMs } from '../lib/deadline.ts';
import type { ErasableStore, StoredEntry } from './store.ts';

export interface GuardedStoreOptions {
  readonly store: ErasableStore;
  readonly clock: Clock;
  /** A read that takes longer counts as a miss. */
  readonly readTimeoutMs: number;
  /** Told when the store begins to fail and when it works again, not for every call. */
  readonly onStateChange: (state: { readonly isWorking: boolean; readonly error?: unknown }) => void;
}

export interface GuardedStore extends ErasableStore {
  isWorking(): boolean;
}

/**
 * A store whose failures are misses: a broken cache makes the service slower, never wrong. Only what cannot be erased is
 * told: whoever asked for it relies on its being gone.
 */
export function createGuardedStore(options: GuardedStoreOptions): GuardedStore {
  const { store, clock, readTimeoutMs, onStateChange } = options;
  /** A full disk can still be read: a read that succeeds says nothing of the writes. */
  const failing = new Set<'reads' | 'writes'>();
  const writes = new Set<Promise<void>>();

  function succeeded(what: 'reads' | 'writes'): void {
    if (failing.delete(what) && failing.size === 0) onStateChange({ isWorking: true });
  }

  function failed(what: 'reads' | 'writes', error: unknown): void {
    if (failing.size === 0) onStateChange({ isWorking: false, error });
    failing.add(what);
  }

  async function readInTime(key: string): Promise<StoredEntry | undefined> {
    const reading = store.get(key).then((found) => ({ found }));
    const read = await withinMs(clock, reading, readTimeoutMs);
    if (read === undefined) throw new Error(`no answer from the store within ${readTimeoutMs} ms`);
    return read.found;
  }

  function write(run: () => Promise<void>): Promise<void> {
    const writing = run()
      .then(
        () => succeeded('writes'),
        (error: unknown) => failed('writes', error),
      )
      .finally(() => writes.delete(writing));
    writes.add(writing);
    return writing;
  }

  return {
    isShared: store.isShared === true,
    async get(key) {
      try {
        const found = await readInTime(key);
        succeeded('reads');
        return found;
      } catch (error) {
        failed('reads', error);
        return undefined;
      }
    },
    set: (key, entry, ttlMs) => write(() => store.set(key, entry, ttlMs)),
    delete: (key) => write(() => store.delete(key)),
    eraseChannels: (channelIds) => store.eraseChannels(channelIds),
    eraseAll: () => store.eraseAll(),
    async close() {
      await Promise.allSettled(writes);
      await store.close();
    },
    isWorking: () => failing.size === 0,
  };
}
