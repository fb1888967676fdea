import { isChannelId } from '../domain/identifier.ts';
import { IMAGE_KINDS } from '../domain/variants.ts';
import { type Check, either, fields, listOf, oneOf, text, trueOrFalse } from '../lib/shape.ts';
import { channelKey, type EntryKind, originalKey, prefixOf, publishedKey } from './keys.ts';

/**
 * What a purge, a take-down or a change of the catalog removes from memory, store and images. It always removes all
 * searches: any of them may contain a removed channel, and none contains a new one.
 */
export interface Removal {
  /** Their records, and the names and redirects that lead to them. */
  readonly channelIds: readonly string[] | 'all';
  /** Handles and user names (`nameOf`) that are removed whatever they lead to. */
  readonly names: readonly string[];
  /** False: the images and their metadata stay. A changed record itself refers to its new images. */
  readonly includesImages: boolean;
}

export const EVERYTHING: Removal = { channelIds: 'all', names: [], includesImages: true };

/** Removes everything of the channels. */
export function removalOf(channelIds: readonly string[], names: readonly string[] = []): Removal {
  return { channelIds, names, includesImages: true };
}

const CHANNEL_ID: Check<string> = (value): value is string => typeof value === 'string' && isChannelId(value);

export const isRemoval = fields<Removal>({
  channelIds: either(oneOf(['all']), listOf(CHANNEL_ID)),
  names: listOf(text()),
  includesImages: trueOrFalse,
});

/** The number of removed entries of each kind. */
export type ErasedEntries = Partial<Record<EntryKind, number>>;

export function addErased(total: ErasedEntries, added: ErasedEntries): void {
  for (const [kind, count] of Object.entries(added) as [EntryKind, number][]) {
    if (count > 0) total[kind] = (total[kind] ?? 0) + count;
  }
}

const CHANNELS_PER_STEP = 100;

/** The removal in steps of at most 100 channels and 100 names, which take some milliseconds each. At least one step. */
export function stepsOf({ channelIds, names, ...removal }: Removal): readonly (Removal & { channelIds: string[] })[] {
  const ids = channelIds === 'all' ? [] : channelIds;
  const count = Math.max(1, Math.ceil(Math.max(ids.length, names.length) / CHANNELS_PER_STEP));
  return Array.from({ length: count }, (_, step) => {
    const [from, to] = [step * CHANNELS_PER_STEP, (step + 1) * CHANNELS_PER_STEP];
    return { ...removal, channelIds: ids.slice(from, to), names: names.slice(from, to) };
  });
}

/** The keys of entries that are removed with the removal's channels and names, apart from those that lead to a channel. */
export function keysOf({ channelIds, names, includesImages }: Removal & { channelIds: readonly string[] }): string[] {
  return [
    ...channelIds.flatMap((channelId) => [channelKey(channelId), ...(includesImages ? detailKeys(channelId) : [])]),
    ...names.map((name) => `${prefixOf('name')}${name}`),
  ];
}

function detailKeys(channelId: string): string[] {
  return [...IMAGE_KINDS.map((kind) => originalKey(channelId, kind)), publishedKey(channelId)];
}
