import { tryToConnect } from '../lib/http/connect.ts';
import { describeFailure } from '../lib/logger.ts';
import type { Pauses } from './pauses.ts';
import type { ChannelSource } from './source.ts';

/** Opens a connection to the origin of a source, and sends nothing. The state of the source has the result. Never rejects. */
export async function checkReachability({ name, origin }: ChannelSource, pauses: Pauses): Promise<void> {
  if (origin === undefined) return;
  try {
    await tryToConnect(origin);
    pauses.regainContact(name);
  } catch (error) {
    pauses.of(name).loseContact(describeFailure(error));
  }
}
