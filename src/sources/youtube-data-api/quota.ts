import type { SourceQuota } from '../../domain/source-status.ts';
import type { Clock } from '../../lib/clock.ts';
import { QuotaSpentError } from '../../lib/http/call-budget.ts';
import { createTokenBucket } from '../../lib/http/token-bucket.ts';

/** What a call costs: a search one of the day's searches, anything else one unit (seen 2026-11). */
export type Allowance = 'searches' | 'units';

/**
 * What the key's project may still spend today. The day is Pacific time's:
 * developers.google.com/youtube/v3/getting-started#quota (seen 2026-11).
 *
 * Searches are spread over the day: a fifth of them at once after a quiet time, the others as the hours pass. Otherwise a
 * few dozen new queries in the morning would leave none for the rest of the day.
 */
export interface DailyQuota {
  /** @throws QuotaSpentError when the day's share is spent, or for searches that of the hour */
  spend(allowance: Allowance): void;
  /** The API says that nothing is left until the day ends: others may use the same project. */
  exhaust(allowance: Allowance): void;
  stats(): readonly SourceQuota[];
}

export interface DailyQuotaOptions {
  readonly clock: Clock;
  readonly unitsPerDay: number;
  readonly searchesPerDay: number;
}

const SEARCH_BURST_SHARE = 0.2;
const DAY_MS = 86_400_000;
const DAY_SECONDS = DAY_MS / 1_000;

export function createDailyQuota({ clock, unitsPerDay, searchesPerDay }: DailyQuotaOptions): DailyQuota {
  const calendar = createPacificCalendar();
  const perDay = { searches: searchesPerDay, units: unitsPerDay };
  const searchesNow = createTokenBucket({
    perSecond: searchesPerDay / DAY_SECONDS,
    capacity: Math.max(1, searchesPerDay * SEARCH_BURST_SHARE),
    nowMs: clock.monotonic(),
  });
  let day = calendar.dayOf(clock.now());
  let spent = { searches: 0, units: 0 };

  function startNewDay(): void {
    const today = calendar.dayOf(clock.now());
    if (today === day) return;
    day = today;
    spent = { searches: 0, units: 0 };
  }

  return {
    spend(allowance) {
      startNewDay();
      if (spent[allowance] >= perDay[allowance]) {
        throw new QuotaSpentError(SPENT[allowance], calendar.msUntilNextDay(clock.now()));
      }
      if (allowance === 'searches') {
        const waitMs = searchesNow.msUntil(1, clock.monotonic());
        if (waitMs > 0) throw new QuotaSpentError(SPENT_FOR_NOW, waitMs);
        searchesNow.take(clock.monotonic());
      }
      spent[allowance] += 1;
    },
    exhaust(allowance) {
      startNewDay();
      spent[allowance] = perDay[allowance];
    },
    stats() {
      startNewDay();
      return (['searches', 'units'] as const).map((name) => ({ name, spent: spent[name], perDay: perDay[name] }));
    },
  };
}

const SPENT: Record<Allowance, string> = {
  searches: 'The daily quota of the YouTube Data API for searches is spent.',
  units: 'The daily quota of the YouTube Data API is spent.',
};
const SPENT_FOR_NOW = 'The daily quota of the YouTube Data API for searches is spread over the day, and spent for now.';

function createPacificCalendar() {
  const pacific = new Intl.DateTimeFormat('en-US', {
    timeZone: 'America/Los_Angeles',
    dateStyle: 'short',
    timeStyle: 'medium',
    hourCycle: 'h23',
  });

  /** ["1/2/26", "15:04:05"] */
  function dayAndTime(nowMs: number): [string, string] {
    const [day = '', time = ''] = pacific.format(nowMs).split(', ');
    return [day, time];
  }

  return {
    dayOf: (nowMs: number) => dayAndTime(nowMs)[0],

    /** An hour off on the two days a year when the clocks change. */
    msUntilNextDay(nowMs: number): number {
      const [hours = 0, minutes = 0, seconds = 0] = dayAndTime(nowMs)[1].split(':').map(Number);
      return DAY_MS - ((hours * 60 + minutes) * 60 + seconds) * 1_000;
    },
  };
}
