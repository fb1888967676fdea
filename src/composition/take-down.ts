import type { Logger } from '../lib/logger.ts';
import type { Purge } from '../services/purge.ts';
import type { PartStates } from './part-states.ts';

export interface TakeDownOptions {
  readonly purge: Pick<Purge, 'purgeChannels'>;
  readonly channelIds: readonly string[];
  readonly logger: Logger;
  readonly states: PartStates;
}

/**
 * Removes what earlier runs have stored of blocked channels. Nobody need wait for it: they are answered with 451
 * whatever is stored. Never rejects; what could not be removed shows in `/readyz` until the next start.
 */
export async function takeDown({ purge, channelIds, logger, states }: TakeDownOptions): Promise<void> {
  if (channelIds.length === 0) return;
  try {
    const { entries, pictures, pictureBytes } = await purge.purgeChannels(channelIds);
    if (pictures === 0 && Object.keys(entries).length === 0) return;
    logger.info({ entries, pictures, pictureBytes }, 'removed what was stored of blocked channels');
  } catch (error) {
    states.report('blocked channels', 'what is stored of them could not be removed; the next start tries again', error);
  }
}
