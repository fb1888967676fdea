import type { Clock } from '../lib/clock.ts';
/** What is known under a key: a value, or that there is no such channel. */
export type Content<V> = { readonly value: V } | { readonly absent: string };

export interface StoredForm<V> {
  readonly content: Content<V>;
  /** From the time it was stored. */
  readonly freshMs: number;
}

export interface StoredFormRules<V> {
  /** Whether the value is one of this kind and belongs under the key. */
  readonly isValue: (value: unknown, key: string) => value is V;
  /** The longest that a value of this kind, or its absence, is fresh. */
  readonly maxFreshMs: number;
  readonly maxAbsentFreshMs: number;
}

const NO_SUCH_CHANNEL = 'There is no such channel.';
/** A value of ours has tens of kilobytes at most; parsing a larger one would hold the event loop. */
const MAX_CHARACTERS = 1024 * 1024;

/** The text that goes into a store. `statistics.ts` tells the two contents apart by how it begins. */
export function writeStoredForm<V>({ content, freshMs }: StoredForm<V>): string {
  return JSON.stringify({ ...content, freshMs });
}

/**
 * Reads what a store returned. `undefined` for what does not fit: others may write to a store, and a file may be damaged.
 * A stored text about the absence is never repeated.
 */
export function readStoredForm<V>(
  text: string,
  key: string,
  { isValue, maxFreshMs, maxAbsentFreshMs }: StoredFormRules<V>,
): StoredForm<V> | undefined {
  const form = parse(text);
  if (typeof form !== 'object' || form === null) return undefined;
  const { value, absent, freshMs } = form as Record<string, unknown>;
  if (absent !== undefined) {
    const fits = value === undefined && typeof absent === 'string' && isDuration(freshMs, maxAbsentFreshMs);
    return fits ? { content: { absent: NO_SUCH_CHANNEL }, freshMs } : undefined;
  }
  return isDuration(freshMs, maxFreshMs) && isValue(value, key) ? { content: { value }, freshMs } : undefined;
}

function parse(text: string): unknown {
  if (text.length > MAX_CHARACTERS) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function isDuration(value: unknown, maximum: number): value is number {
  return typeof value === 'number' && value >= 0 && value <= maximum;
}

/** A value in memory, or that there is no such channel. */
export interface Entry<V> extends StoredForm<V> {
  /** Wall clock: when it was loaded, here or by another instance. */
  readonly storedAtMs: number;
  /** The monotonic time at which its age was 0. */
  readonly bornAtMs: number;
  /** After this age it may not be served any more. */
  readonly maxAgeMs: number;
  readonly bytes: number;
  readonly isStored: boolean;
  /** Of the last load that failed; monotonic. */
  lastFailure: { readonly loadId: string; readonly atMs: number } | undefined;
}

/** The objects of an entry and the cache’s own lists (measured; the test compares). */
const ENTRY_OVERHEAD_BYTES = 600;
/** Another instance's clock may be ahead by this much: far more than time servers leave, far less than a value lasts. */
const MAX_CLOCK_SKEW_MS = 5_000;

export interface NewEntry<V> extends StoredForm<V> {
  /** When it was loaded; default: now. */
  readonly storedAtMs?: number;
  /** How long a value may be served after it was loaded. An absence may be served as long as it is fresh. */
  readonly staleMs: number;
  readonly isStored: boolean;
  /** Of key and value as text. */
  readonly characters: number;
}

export function createEntry<V>(clock: Clock, entry: NewEntry<V>): Entry<V> {
  const { content, freshMs, staleMs, isStored, characters } = entry;
  const nowMs = clock.now();
  const { storedAtMs = nowMs } = entry;
  // The clock was set back since a value from the future was stored: its age is unknown, so it counts as old.
  const ageMs = storedAtMs - nowMs > MAX_CLOCK_SKEW_MS ? freshMs : Math.max(0, nowMs - storedAtMs);
  return {
    content,
    freshMs,
    storedAtMs,
    bornAtMs: clock.monotonic() - ageMs,
    maxAgeMs: 'absent' in content ? freshMs : Math.max(freshMs, staleMs),
    bytes: ENTRY_OVERHEAD_BYTES + characters * 2,
    isStored,
    lastFailure: undefined,
  };
}

/**
 * By the clock that says more. The monotonic clock stands still while a machine is suspended, and the wall clock may be
 * set back. A wall clock that is set forward costs a load.
 */
function ageOf({ bornAtMs, storedAtMs }: Entry<unknown>, clock: Clock): number {
  return Math.max(clock.monotonic() - bornAtMs, clock.now() - storedAtMs);
}

/** How much longer it is fresh; negative for an old one. */
export function freshLeftMs(entry: Entry<unknown>, clock: Clock): number {
  return entry.freshMs - ageOf(entry, clock);
}

export function isServable(entry: Entry<unknown>, clock: Clock): boolean {
  return ageOf(entry, clock) < entry.maxAgeMs;
}
