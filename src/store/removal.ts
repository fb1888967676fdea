import { IMAGE_KINDS } from '../domain/variants.ts';
import { channelIdsIn, channelKey, type EntryKind, originalKey, prefixOf } from './keys.ts';

/**
 * What a purge or a take-down removes from the store: everything of the channels, with the names and redirects that lead to
 * them, and the searches that contain one of them.
 */
export interface Removal {
  readonly channelIds: readonly string[];
  /** Handles and user names (`nameOf`) that are removed whatever they lead to. */
  readonly names: readonly string[];
}

/** The number of removed entries of each kind. */
export type ErasedEntries = Partial<Record<EntryKind, number>>;

export function addErased(total: ErasedEntries, added: ErasedEntries): void {
  for (const [kind, count] of Object.entries(added) as [EntryKind, number][]) {
    if (count > 0) total[kind] = (total[kind] ?? 0) + count;
  }
}

export function hasAny(erased: ErasedEntries): boolean {
  return Object.values(erased).some((count) => count > 0);
}

const CHANNELS_PER_STEP = 100;

/** The removal in steps of at most 100 channels and 100 names, which take some milliseconds each. At least one step. */
export function stepsOf({ channelIds, names }: Removal): readonly Removal[] {
  const count = Math.max(1, Math.ceil(Math.max(channelIds.length, names.length) / CHANNELS_PER_STEP));
  return Array.from({ length: count }, (_, step) => {
    const [from, to] = [step * CHANNELS_PER_STEP, (step + 1) * CHANNELS_PER_STEP];
    return { channelIds: channelIds.slice(from, to), names: names.slice(from, to) };
  });
}

/** True for a search in whose key or value one of the channels is. */
export function containsChannel(channelIds: ReadonlySet<string>, key: string, value: string): boolean {
  return channelIdsIn(`${key} ${value}`).some((channelId) => channelIds.has(channelId));
}

/** The keys of the entries that are removed, apart from searches and those that lead to a channel. */
export function keysOf({ channelIds, names }: Removal): string[] {
  return [
    ...channelIds.flatMap((channelId) => [
      channelKey(channelId),
      ...IMAGE_KINDS.map((kind) => originalKey(channelId, kind)),
    ]),
    ...names.map((name) => `${prefixOf('name')}${name}`),
  ];
}
