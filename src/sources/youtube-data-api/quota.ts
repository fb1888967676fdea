import type { SourceQuota } from '../../domain/source-status.ts';
import type { Breaker, BreakerOpenError } from '../../lib/breaker.ts';
import type { Clock } from '../../lib/clock.ts';

/** The cost of a call: a search is one of the day's searches, any other call one unit (seen 2026-11). */
export type Allowance = 'searches' | 'units';

export interface DailyQuotaOptions {
  readonly clock: Clock;
  /** The project's daily quota for everything except searches. Each call costs one unit. */
  readonly unitsPerDay: number;
  /** The breaker of each allowance, which is open until the quota is renewed. */
  readonly breakers: Readonly<Record<Allowance, Breaker>>;
}

/** Of the calls of a day: by default, a project may make 10,000 calls and 100 searches. */
const SEARCH_SHARE = 0.01;
const DAY_MS = 86_400_000;

/**
 * The calls of this process today, and what is left of the quota. YouTube's own count, for all users of the key's project, decides.
 * The day is in Pacific time: developers.google.com/youtube/v3/getting-started#quota (seen 2026-11).
 */
export function createDailyQuota({ clock, unitsPerDay, breakers }: DailyQuotaOptions) {
  const perDay = { searches: Math.max(1, Math.floor(unitsPerDay * SEARCH_SHARE)), units: unitsPerDay };
  const pacific = new Intl.DateTimeFormat('en-US', {
    timeZone: 'America/Los_Angeles',
    dateStyle: 'short',
    timeStyle: 'medium',
    hourCycle: 'h23',
  });
  let day = '';
  let spent = { searches: 0, units: 0 };

  function startNewDay(): void {
    const [today = ''] = pacific.format(clock.now()).split(', ');
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
    /** @throws BreakerOpenError if the daily quota is spent */
    spend(allowance: Allowance): void {
      breakers[allowance].check();
      startNewDay();
      if (spent[allowance] >= perDay[allowance]) throw breakers[allowance].openUntil(clock.now() + msUntilNextDay());
      spent[allowance] += 1;
    },
    /** The API reports that nothing is left until the day ends, because others use the same project. */
    exhaust(allowance: Allowance): BreakerOpenError {
      startNewDay();
      spent[allowance] = perDay[allowance];
      return breakers[allowance].openUntil(clock.now() + msUntilNextDay());
    },
    stats(): readonly SourceQuota[] {
      startNewDay();
      return (['searches', 'units'] as const).map((name) => ({ name, spent: spent[name], perDay: perDay[name] }));
    },
  };
}
