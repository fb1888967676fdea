import type { Clock } from '../lib/clock.ts';
import { type JsonObject, parseJsonObject } from '../lib/json.ts';

/** The times of the values of a kind. */
export interface CachePolicy {
  /** How long a value is fresh, at most. */
  readonly freshMs: number;
  /** How long after it was loaded a value may be returned when reloads fail. An absence (`null`) is returned only while it is fresh. */
  readonly graceMs: number;
  /** False for a value of another form, which another program has stored. Default: no other program can. */
  readonly isValue?: (value: unknown) => boolean;
}

/** What is stored of a value. */
export interface Content<V> {
  readonly value: V;
  /** The version of what the value was made from, if there are several. */
  readonly version?: string | undefined;
  /** When this or another instance loaded it (wall clock). */
  readonly storedAtMs: number;
  /** Counted from the time when it was stored. */
  readonly freshMs: number;
}

/** A value in memory. */
export interface Entry<V> extends Content<V> {
  /** Its size in memory. */
  readonly bytes: number;
  /** False if the value is kept in memory only. */
  readonly isStored: boolean;
  /** Grows with the time when its load began; 0 for a value that was read from the store. */
  readonly order: number;
  /** When it was stored, or last compared with a shared store (monotonic). */
  comparedAtMs: number;
  /** True if that no longer had it, or had an older one. */
  isLost?: boolean;
}

/** Memory of an entry's objects and of the cache's lists (measured; a test compares). */
const ENTRY_OVERHEAD_BYTES = 600;

/** The size in memory of an entry with this stored form. */
export function memoryBytesOf(key: string, text: string): number {
  return ENTRY_OVERHEAD_BYTES + (key.length + text.length) * 2;
}

/** Reads the stored form, which is JSON. `undefined` for any other text: others may use the same Redis. */
export function readContent<V>(text: string, policy: CachePolicy): Content<V> | undefined {
  const content = parseJsonObject(text);
  return content !== undefined && isContent(content, policy) ? (content as unknown as Content<V>) : undefined;
}

function isContent({ value, storedAtMs, freshMs }: JsonObject, policy: CachePolicy): boolean {
  const isTime = (ms: unknown, maxMs: number) => typeof ms === 'number' && ms >= 0 && ms <= maxMs;
  return (
    isTime(storedAtMs, Number.MAX_SAFE_INTEGER) &&
    isTime(freshMs, policy.freshMs) &&
    (policy.isValue === undefined || policy.isValue(value))
  );
}

/** How far another instance's clock may be ahead: far more than with NTP, far less than a value is fresh. */
const MAX_CLOCK_SKEW_MS = 5_000;

/** By the wall clock, because the monotonic clock stops while a machine is suspended. */
function ageOf({ storedAtMs, freshMs }: Content<unknown>, clock: Clock): number {
  const ageMs = clock.now() - storedAtMs;
  // A value from the future: the clock was set back. Its age is unknown, so it counts as stale.
  return ageMs < -MAX_CLOCK_SKEW_MS ? freshMs : Math.max(0, ageMs);
}

/** The remaining freshness; negative for a stale entry. */
export function freshLeftMs(entry: Content<unknown>, clock: Clock): number {
  return entry.freshMs - ageOf(entry, clock);
}

/** The time after which the entry may no longer be served, counted from the time when it was stored. */
export function maxAgeMs({ value, freshMs }: Content<unknown>, { graceMs }: CachePolicy): number {
  return value === null ? freshMs : Math.max(freshMs, graceMs);
}

/** True if the entry is fresh or in its grace. */
export function isServable(entry: Content<unknown>, policy: CachePolicy, clock: Clock): boolean {
  return ageOf(entry, clock) < maxAgeMs(entry, policy);
}
