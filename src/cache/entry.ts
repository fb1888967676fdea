import type { Clock } from '../lib/clock.ts';
import type { StoredEntry } from './store.ts';

/** The content of a key: a value, or the knowledge that there is no such channel. */
export type Content<V> = { readonly value: V } | { readonly absent: true };

/** The times of the values of a kind. */
export interface CachePolicy {
  /** How long a value is fresh, at most. */
  readonly freshMs: number;
  /**
   * How long after it was loaded a value may be returned when reloads fail. An absence is returned only while it is
   * fresh.
   */
  readonly graceMs: number;
}

/** How long "no such channel" is fresh. */
export const ABSENT_FRESH_MS = 60_000;

/** A value, or the absence of a channel, in memory. */
export interface Entry<V> {
  readonly content: Content<V>;
  /** Counted from the time when it was stored. */
  readonly freshMs: number;
  /** When this or another instance loaded it (wall clock). */
  readonly storedAtMs: number;
  /** The monotonic time when its age was 0. */
  readonly bornAtMs: number;
  /** At this age it may no longer be served. */
  readonly maxAgeMs: number;
  readonly bytes: number;
  /** False if the value is kept in memory only. */
  readonly isStored: boolean;
  /** When the store had it (monotonic). */
  comparedAtMs: number;
}

/** Memory of an entry's objects and of the cache's lists (measured; a test compares). */
const ENTRY_OVERHEAD_BYTES = 600;
/** How far another instance's clock may be ahead: far more than with NTP, far less than a value is fresh. */
const MAX_CLOCK_SKEW_MS = 5_000;

interface EntryParts<V> extends Pick<Entry<V>, 'content' | 'freshMs' | 'isStored'> {
  readonly storedAtMs?: number;
  readonly graceMs: number;
  /** Length of key and value as text. */
  readonly characters: number;
}

export function createEntry<V>(clock: Clock, parts: EntryParts<V>): Entry<V> {
  const { content, freshMs, graceMs, isStored, characters, storedAtMs = clock.now() } = parts;
  const aheadMs = storedAtMs - clock.now();
  // A value from the future: the clock was set back. Its age is unknown, so it counts as stale.
  const ageMs = aheadMs > MAX_CLOCK_SKEW_MS ? freshMs : Math.max(0, -aheadMs);
  return {
    ...{ content, freshMs, storedAtMs, isStored },
    bornAtMs: clock.monotonic() - ageMs,
    maxAgeMs: 'absent' in content ? freshMs : Math.max(freshMs, graceMs),
    bytes: ENTRY_OVERHEAD_BYTES + characters * 2,
    comparedAtMs: clock.monotonic(),
  };
}

/** The stored form of an entry's content. */
export function writeContent<V>(content: Content<V>, freshMs: number): string {
  return JSON.stringify({ ...content, freshMs });
}

/** Reads what `writeContent` wrote. A store returns nothing else. */
export function readEntry<V>(
  clock: Clock,
  key: string,
  { value: json, storedAtMs }: StoredEntry,
  { graceMs }: CachePolicy,
): Entry<V> {
  const { freshMs, ...content } = JSON.parse(json) as Content<V> & { readonly freshMs: number };
  const characters = key.length + json.length;
  return createEntry<V>(clock, { content, freshMs, storedAtMs, graceMs, isStored: true, characters });
}

/**
 * The larger age of both clocks: the monotonic clock stops while a machine is suspended, and the wall clock may be set
 * back. A wall clock that is set forward only causes a reload.
 */
function ageOf({ bornAtMs, storedAtMs }: Entry<unknown>, clock: Clock): number {
  return Math.max(clock.monotonic() - bornAtMs, clock.now() - storedAtMs);
}

/** The remaining freshness; negative for a stale entry. */
export function freshLeftMs(entry: Entry<unknown>, clock: Clock): number {
  return entry.freshMs - ageOf(entry, clock);
}

/** True if the entry is fresh or in its grace. */
export function isServable(entry: Entry<unknown>, clock: Clock): boolean {
  return ageOf(entry, clock) < entry.maxAgeMs;
}

/** The value; `undefined` for an absence. */
export function valueIn<V>(entry: Entry<V> | undefined): V | undefined {
  return entry !== undefined && 'value' in entry.content ? entry.content.value : undefined;
}
