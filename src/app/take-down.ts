import type { Logger } from '../lib/logger.ts';
import type { Purge } from '../services/purge.ts';
import { RemovalDelayed } from '../services/removals.ts';

export interface TakeDownOptions {
  readonly purge: Pick<Purge, 'purgeChannels'>;
  readonly channelIds: readonly string[];
  readonly logger: Logger;
}

/**
 * Removes what earlier runs have stored of blocked channels. Nobody need wait for it: they are answered with 451
 * whatever is stored. Never rejects; what cannot be removed is tried again, and shows in `/readyz` until it is gone.
 */
export async function takeDown({ purge, channelIds, logger }: TakeDownOptions): Promise<void> {
  if (channelIds.length === 0) return;
  try {
    const { entries, pictures, pictureBytes } = await purge.purgeChannels(channelIds);
    if (pictures === 0 && Object.keys(entries).length === 0) return;
    logger.info({ entries, pictures, pictureBytes }, 'removed what was stored of blocked channels');
  } catch (error) {
    if (!(error instanceof RemovalDelayed)) logger.error({ err: error }, 'a take-down failed: a bug');
  }
}
