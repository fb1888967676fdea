import type { Clock } from '../../lib/clock.ts';
import { OwnLimitError } from '../../lib/resilience/own-limit.ts';

/** Units spent today. The day is Pacific time's: developers.google.com/youtube/v3/getting-started#quota (seen 2026-11). */
export interface DailyQuota {
  /** @throws OwnLimitError when the day's units, or those that searches may have, are spent */
  spend(call: 'channel' | 'search'): void;
  stats(): { readonly spentUnits: number; readonly unitsPerDay: number };
}

const COSTS = { channel: 1, search: 100 } as const;
/** A few dozen searches must not leave a day without records. */
const SEARCH_SHARE = 0.5;
const DAY_MS = 86_400_000;

export function createDailyQuota(clock: Clock, unitsPerDay: number): DailyQuota {
  const calendar = createPacificCalendar();
  let day = calendar.dayOf(clock.now());
  let spent = 0;
  let spentOnSearches = 0;

  function startNewDay(): void {
    const today = calendar.dayOf(clock.now());
    if (today === day) return;
    day = today;
    spent = 0;
    spentOnSearches = 0;
  }

  function refuse(whose: string): never {
    throw new OwnLimitError(
      `The daily quota of the YouTube Data API${whose} is spent.`,
      calendar.msUntilNextDay(clock.now()),
    );
  }

  return {
    spend(call) {
      startNewDay();
      const cost = COSTS[call];
      if (spent + cost > unitsPerDay) refuse('');
      if (call === 'search') {
        if (spentOnSearches + cost > unitsPerDay * SEARCH_SHARE) refuse(' for searches');
        spentOnSearches += cost;
      }
      spent += cost;
    },
    stats() {
      startNewDay();
      return { spentUnits: spent, unitsPerDay };
    },
  };
}

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
