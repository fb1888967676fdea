import type { Config } from '../config/settings.ts';
import { withinMs } from '../lib/deadlines.ts';
import type { Runtime } from '../lib/runtime.ts';
import { createPurge, PurgeFailed } from '../services/purge.ts';
import type { Catalog } from '../sources/catalog/catalog.ts';
import { hasAny } from '../store/removal.ts';
import { STORE_READ_MS, type Stores } from './stores.ts';

/** Purges and take-downs of this process. Follows the purges of other processes. */
export function createPurges(
  { blockedChannels }: Pick<Config, 'blockedChannels'>,
  { clock, epochs, health, logger }: Runtime,
  stores: Pick<Stores, 'backingStore' | 'caches' | 'images'>,
  catalog: Catalog | undefined,
) {
  const { backingStore, caches, images } = stores;
  const purge = createPurge({ caches, store: backingStore, images, catalog, epochs });
  let cancelFollow: () => void = () => undefined;
  let cancelTakeDown: () => void = () => undefined;
  let isStopped = false;

  /** Ends the epoch here if a command or another instance has purged. While the store fails, memory is kept. */
  async function follow(): Promise<void> {
    try {
      epochs.moveTo(await backingStore.readEpoch(epochs.current().id));
    } catch (error) {
      logger.debug({ err: error }, 'the epoch cannot be read');
    }
    if (!isStopped) cancelFollow = clock.after(FOLLOW_MS, () => void follow());
  }

  async function takeDown(): Promise<void> {
    try {
      const { entries, images, imageBytes } = await purge.takeDown(blockedChannels);
      if (images > 0 || hasAny(entries))
        logger.info({ entries, images, imageBytes }, 'removed what was stored of blocked channels');
      health.report('removal', null);
    } catch (error) {
      if (!(error instanceof PurgeFailed)) throw error;
      health.report('removal', 'what is stored of blocked channels cannot be removed', error);
      if (!isStopped) cancelTakeDown = clock.after(TAKE_DOWN_RETRY_MS, () => void takeDown());
    }
  }

  return {
    purge,
    /** Reads the epoch and follows what other processes purge. Begins to remove what is stored of blocked channels. */
    async start(): Promise<void> {
      // A disk that hangs delays the start, and does not prevent it.
      await withinMs(clock, follow(), STORE_READ_MS);
      if (blockedChannels.length > 0) void takeDown();
    },
    stop(): void {
      isStopped = true;
      cancelFollow();
      cancelTakeDown();
    },
  };
}

/** A purge must reach every instance within 2 s, even if three reads fail. */
const FOLLOW_MS = 500;
const TAKE_DOWN_RETRY_MS = 60_000;
