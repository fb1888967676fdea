/* Figures of the console, computed from its state. */

import { formatCount, formatDuration } from '../../site/numbers.ts';
import type { ConsoleState } from '../state.ts';

type Holder = ConsoleState['stores'][number];

/** Caches and queues above this share of their bound are not folded away. */
const NEARLY_FULL = 0.7;

/**
 * The hit rate of cache lookups in percent, and the share of each outcome, 0 to 1. A stale response counts as a hit, because
 * it came from the cache.
 *
 * @returns `undefined` without lookups
 */
export function lookupFigures({ hit = 0, stale = 0, miss = 0, refreshed = 0 }: Readonly<Record<string, number>>) {
  const total = hit + stale + miss + refreshed;
  if (total === 0) return undefined;
  const shares = { hit: hit / total, stale: stale / total, miss: (miss + refreshed) / total };
  return { total, hitPercent: Math.round((shares.hit + shares.stale) * 100), shares };
}

/** How full it is, by entries or bytes, whichever is more: 0 to 1. 0 if it has no bound. */
export function fillOf({ entries, maxEntries, bytes, maxBytes }: Omit<Holder, 'name'>): number {
  return Math.max(shareOf(entries, maxEntries), shareOf(bytes, maxBytes));
}

function shareOf(value = 0, bound = 0): number {
  return bound === 0 ? 0 : value / bound;
}

/** Splits caches and queues into those that are nearly full, fullest first, and the others in their order. */
export function byFill(stores: readonly Holder[]): {
  readonly full: readonly Holder[];
  readonly others: readonly Holder[];
} {
  const full = stores.filter((store) => fillOf(store) > NEARLY_FULL).toSorted((a, b) => fillOf(b) - fillOf(a));
  return { full, others: stores.filter((store) => !full.includes(store)) };
}

/** `4 min`, `1 h 30 min`, `3 days` */
export function formatUptime(ms: number): string {
  const minutes = Math.floor(ms / 60_000);
  if (minutes < 1) return `${Math.floor(ms / 1000)} s`;
  if (minutes < 60) return `${minutes} min`;
  const hours = Math.floor(minutes / 60);
  return hours < 48 ? `${hours} h ${minutes % 60} min` : `${Math.floor(hours / 24)} days`;
}

/** Adds the full stop that a reason may lack. */
export function sentence(text: string): string {
  return /[.!?]\)?$/.test(text) ? text : `${text}.`;
}

/** `2026-11-24 03:12:44`, as in the log: UTC. @param ms since 1970 */
export function formatTime(ms: number): string {
  return new Date(ms).toISOString().slice(0, 19).replace('T', ' ');
}

/** A dash for `null`: nothing was measured. */
export function formatDurationOf(seconds: number | null): string {
  return seconds === null ? '–' : formatDuration(seconds * 1000);
}

/** `3.2` and `a minute`. A rate below one a second is given per minute. An amount below 10 has one decimal place. */
export function formatRate(perSecond: number): { readonly amount: string; readonly unit: string } {
  const isSlow = perSecond < 1;
  const rate = isSlow ? perSecond * 60 : perSecond;
  const amount = rate < 10 ? rate.toFixed(1) : formatCount(Math.round(rate));
  return { amount, unit: isSlow ? 'a minute' : 'a second' };
}

/** Sums each group of `size` consecutive values. */
export function inColumns(values: readonly number[], size: number): number[] {
  const sums: number[] = [];
  for (const [at, value] of values.entries()) {
    const column = Math.floor(at / size);
    sums[column] = (sums[column] ?? 0) + value;
  }
  return sums;
}

/** The labels of an axis at its top, middle and bottom. The middle has none if it is not a whole number. */
export function countLabels(highest: number): string[] {
  const middle = highest % 2 === 0 ? formatCount(highest / 2) : '';
  return [formatCount(highest), middle, '0'];
}
