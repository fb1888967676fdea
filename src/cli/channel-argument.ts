import { type ChannelRef, channelRefsOfName } from '../domain/identifier.ts';
import { UsageError } from './command-line.ts';

/**
 * The channels that a command's argument may stand for, in the order to try them.
 *
 * @throws UsageError when it can be none.
 */
export function requireRefs(argument: string): ChannelRef[] {
  const refs = channelRefsOfName(argument);
  if (refs.length === 0) throw new UsageError(`"${argument}" is no channel ID, handle or user name.`);
  return refs;
}
