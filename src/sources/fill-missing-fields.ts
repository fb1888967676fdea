import type { Channel } from '../domain/channel.ts';
import { AppError } from '../domain/errors.ts';
import type { LoadedChannel } from './source.ts';

/**
 * Fills missing fields from another source's record of the same channel: fields whose upstream call failed, and `links`,
 * which the official API does not have. Best effort: if the other source fails, does not know the channel or takes too
 * long, the record stays as it is, and `missing` names the fields that could not be filled.
 */
export async function fillMissingFields(
  loaded: LoadedChannel,
  getOther: (channelId: string) => Promise<LoadedChannel>,
): Promise<LoadedChannel> {
  const needed = emptyFields(loaded);
  if (needed.length === 0) return loaded;
  const other = await getIfPossible(() => getOther(loaded.channel.channelId));
  const unfilled = other === undefined ? needed : emptyFields(other);
  const filled = needed.filter((field) => !unfilled.includes(field));
  const missing = needed.filter((field) => unfilled.includes(field));
  return {
    ...loaded,
    channel: other === undefined ? loaded.channel : { ...loaded.channel, ...pick(other.channel, filled) },
    isComplete: loaded.isComplete || missing.length === 0,
    missing,
  };
}

function emptyFields({ channel, missing }: LoadedChannel): readonly (keyof Channel)[] {
  return channel.links === null && !missing.includes('links') ? [...missing, 'links'] : missing;
}

async function getIfPossible(get: () => Promise<LoadedChannel>): Promise<LoadedChannel | undefined> {
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
