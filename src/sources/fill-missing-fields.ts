import type { Channel } from '../domain/channel.ts';
import { AppError } from '../domain/errors.ts';
import type { LoadedChannel } from './source.ts';

/**
 * Fills what a record lacks from another source's record of the same channel: fields for which an answer is missing,
 * and `links`, which the official API does not have. Best effort: when the other source fails, does not know the channel
 * or takes too long, the record goes out as it is, and `missing` names what could not be filled.
 */
export async function completeFrom(
  loaded: LoadedChannel,
  getOther: (channelId: string) => Promise<LoadedChannel>,
): Promise<LoadedChannel> {
  const lacking = lackingFields(loaded);
  if (lacking.length === 0) return loaded;
  const other = await getOrNothing(() => getOther(loaded.channel.channelId));
  const unfilled = other === undefined ? lacking : lackingFields(other);
  const filled = lacking.filter((field) => !unfilled.includes(field));
  const missing = lacking.filter((field) => unfilled.includes(field));
  return {
    ...loaded,
    channel: other === undefined ? loaded.channel : { ...loaded.channel, ...pick(other.channel, filled) },
    isComplete: loaded.isComplete || missing.length === 0,
    missing,
  };
}

function lackingFields({ channel, missing }: LoadedChannel): readonly (keyof Channel)[] {
  return channel.links === null && !missing.includes('links') ? [...missing, 'links'] : missing;
}

async function getOrNothing(get: () => Promise<LoadedChannel>): Promise<LoadedChannel | undefined> {
  try {
    return await get();
  } catch (error) {
    if (error instanceof AppError) return undefined;
    throw error;
  }
}

function pick(channel: Channel, fields: readonly (keyof Channel)[]): Partial<Channel> {
  return Object.fromEntries(fields.map((field) => [field, channel[field]]));
}
