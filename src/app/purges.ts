import type { Config } from '../config/settings.ts';
import type { Runtime } from '../lib/runtime.ts';
import { createPurge, PurgeFailed } from '../services/purge.ts';
import type { Catalog } from '../sources/catalog/catalog.ts';
import { hasAny } from '../store/removal.ts';
import type { Stores } from './stores.ts';

/** Purges and take-downs of this process. @param forget what a purge forgets outside of the stores */
export function createPurges(
  { blockedChannels }: Pick<Config, 'blockedChannels'>,
  { clock, health, logger }: Runtime,
  stores: Pick<Stores, 'backingStore' | 'caches' | 'images'>,
  catalog: Catalog | undefined,
  forget: () => void,
) {
  const { backingStore, caches, images } = stores;
  const purge = createPurge({ caches, store: backingStore, images, catalog, forget });
  let cancelTakeDown: () => void = () => undefined;
  let isStopped = false;

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
    /** Begins to remove what is stored of blocked channels. */
    start(): void {
      if (blockedChannels.length > 0) void takeDown();
    },
    stop(): void {
      isStopped = true;
      cancelTakeDown();
    },
  };
}

const TAKE_DOWN_RETRY_MS = 60_000;
