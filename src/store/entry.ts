import type { Clock } from '../lib/clock.ts';
import type { StoredForm } from './stored-form.ts';

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
