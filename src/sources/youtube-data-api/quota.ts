import type { SourceQuota } from '../../domain/source-status.ts';
import type { Clock } from '../../lib/clock.ts';
import { createTokenBucket, QuotaSpentError } from '../../lib/http/call-budget.ts';

/** The cost of a call: a search is one of the day's searches, any other call one unit (seen 2026-11). */
export type Allowance = 'searches' | 'units';

export interface DailyQuotaOptions {
  readonly clock: Clock;
  /** The project's daily quota for everything except searches. Each call costs one unit. */
  readonly unitsPerDay: number;
  readonly searchesPerDay: number;
}

const SEARCH_BURST_SHARE = 0.2;
const DAY_MS = 86_400_000;
const DAY_SECONDS = DAY_MS / 1_000;

/**
 * The remaining quota of the key's project today. The day is in Pacific time:
 * developers.google.com/youtube/v3/getting-started#quota (seen 2026-11).
 *
 * Searches are released through the day: a fifth of them at once after a quiet time, the others as the hours pass. Otherwise a
 * few dozen new queries in the morning would use up all searches of the day.
 */
export function createDailyQuota({ clock, unitsPerDay, searchesPerDay }: DailyQuotaOptions) {
  const perDay = { searches: searchesPerDay, units: unitsPerDay };
  const searchesNow = createTokenBucket({
    perSecond: searchesPerDay / DAY_SECONDS,
    capacity: Math.max(1, searchesPerDay * SEARCH_BURST_SHARE),
    nowMs: clock.monotonic(),
  });
  const pacific = new Intl.DateTimeFormat('en-US', {
    timeZone: 'America/Los_Angeles',
    dateStyle: 'short',
    timeStyle: 'medium',
    hourCycle: 'h23',
  });
  let day: string | undefined;
  let spent = { searches: 0, units: 0 };

  function startNewDay(): void {
    const [today] = pacific.format(clock.now()).split(', ');
    if (today === day) return;
    day = today;
    spent = { searches: 0, units: 0 };
  }

  /** Wrong by an hour on the two days a year when the clocks change. */
  function msUntilNextDay(): number {
    const [, time = ''] = pacific.format(clock.now()).split(', ');
    const [hours = 0, minutes = 0, seconds = 0] = time.split(':').map(Number);
    return DAY_MS - ((hours * 60 + minutes) * 60 + seconds) * 1_000;
  }

  return {
    /** @throws QuotaSpentError if the daily quota is used up, or the current share of the searches */
    spend(allowance: Allowance): void {
      startNewDay();
      if (spent[allowance] >= perDay[allowance]) {
        throw new QuotaSpentError(SPENT[allowance], msUntilNextDay());
      }
      if (allowance === 'searches') {
        const waitMs = searchesNow.msUntil(1, clock.monotonic());
        if (waitMs > 0) throw new QuotaSpentError(SPENT_FOR_NOW, waitMs);
        searchesNow.take(clock.monotonic());
      }
      spent[allowance] += 1;
    },
    /** The API reports that nothing is left until the day ends, because others use the same project. */
    exhaust(allowance: Allowance): void {
      startNewDay();
      spent[allowance] = perDay[allowance];
    },
    stats(): readonly SourceQuota[] {
      startNewDay();
      return (['searches', 'units'] as const).map((name) => ({ name, spent: spent[name], perDay: perDay[name] }));
    },
  };
}

const SPENT: Record<Allowance, string> = {
  searches: 'The daily quota of the YouTube Data API for searches is spent.',
  units: 'The daily quota of the YouTube Data API is spent.',
};
const SPENT_FOR_NOW =
  'The daily quota of the YouTube Data API for searches is released through the day and exhausted for now.';
