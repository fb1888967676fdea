import { channelRefsOf } from '../domain/channel-url.ts';
import { type ChannelRef, refsOfBareIdentifier } from '../domain/identifier.ts';

/** The channels that a command's argument may stand for, in the order to try them; none when it can be none. */
export function refsOfArgument(argument: string): ChannelRef[] {
  const refs = channelRefsOf(argument);
  return refs.length > 0 ? refs : refsOfBareIdentifier(argument);
}
