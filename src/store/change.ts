import { channelOfPicture, findEntryKind, nameInKey } from './keys.ts';
import { channelIdsIn } from './mentions.ts';

/** What a purge, a take-down or a change of the catalog takes away. */
export interface Change {
  /** Everything whose key or value names one of them. */
  readonly channelIds: ReadonlySet<string> | 'all';
  /** Handles and user names (`nameOf`), whatever is known of them. */
  readonly names: ReadonlySet<string>;
  /** Searches that name one of the channels go always; those that found nothing, or all of them, go too. */
  readonly searches: 'naming' | 'empty' | 'all';
  /** False where only records, names and searches go: a changed record says by itself whether its pictures are others. */
  readonly includesPictures: boolean;
}

const NO_NAMES: ReadonlySet<string> = new Set();

/** Everything that is kept of the channels. */
export function changeOfChannels(channelIds: ReadonlySet<string>, more: Partial<Change> = {}): Change {
  return { channelIds, names: NO_NAMES, searches: 'naming', includesPictures: true, ...more };
}

export const EVERYTHING: Change = { channelIds: 'all', names: NO_NAMES, searches: 'all', includesPictures: true };

export function isEverything({ channelIds, includesPictures }: Change): boolean {
  return channelIds === 'all' && includesPictures;
}

const KINDS_WITHOUT_PICTURES: ReadonlySet<string> = new Set(['channel', 'name', 'search']);

/**
 * Whether the change takes an entry away.
 *
 * @param named the channels that its value names
 */
export function concernsEntry(change: Change, key: string, named: readonly string[]): boolean {
  const { channelIds, names, searches, includesPictures } = change;
  const kind = findEntryKind(key);
  if (!includesPictures && !KINDS_WITHOUT_PICTURES.has(kind ?? '')) return false;
  if (channelIds === 'all') return true;
  if (kind === 'search' && (searches === 'all' || (searches === 'empty' && named.length === 0))) return true;
  if (kind === 'name' && names.has(nameInKey(key))) return true;
  return named.some((id) => channelIds.has(id)) || channelIdsIn(key).some((id) => channelIds.has(id));
}

/** Whether an entry that the change leaves by its key may still go by what its value names. */
export function mayConcernValue({ channelIds, searches, includesPictures }: Change, key: string): boolean {
  const kind = findEntryKind(key) ?? '';
  if (kind === 'search' && searches === 'empty') return true;
  return channelIds !== 'all' && channelIds.size > 0 && (includesPictures || KINDS_WITHOUT_PICTURES.has(kind));
}

/** Whether the change takes a picture away: an original's bytes, or what was made of one. */
export function concernsPicture({ channelIds, includesPictures }: Change, pictureKey: string): boolean {
  return includesPictures && (channelIds === 'all' || channelIds.has(channelOfPicture(pictureKey)));
}

/** One change that takes away what both do. */
export function mergeChanges(first: Change, second: Change): Change {
  const isAll = first.channelIds === 'all' || second.channelIds === 'all';
  return {
    channelIds: isAll ? 'all' : new Set([...first.channelIds, ...second.channelIds]),
    names: new Set([...first.names, ...second.names]),
    searches: SEARCHES.find((which) => which === first.searches || which === second.searches) ?? 'naming',
    includesPictures: first.includesPictures || second.includesPictures,
  };
}

/** Those that take away more come first. */
const SEARCHES = ['all', 'empty', 'naming'] as const;
