import type { SourceQuota } from '../../domain/source-status.ts';
import type { Breaker, BreakerOpenError } from '../../lib/breaker.ts';
import type { Clock } from '../../lib/clock.ts';
import { fields, numberIn, parseJson, text } from '../../lib/schema.ts';
import type { KeptText } from '../source.ts';

/** The cost of a call: a search is one of the day's searches, any other call one unit (seen 2026-11). */
export type Allowance = 'searches' | 'units';

export interface DailyQuotaOptions {
  readonly clock: Clock;
  /** The project's daily quota for everything except searches. Each call costs one unit. */
  readonly unitsPerDay: number;
  /** The calls of the day, which survive a restart and are shared between instances. */
  readonly kept: KeptText;
  /** The breaker of each allowance, which is open until the quota is renewed. */
  readonly breakers: Readonly<Record<Allowance, Breaker>>;
}

/** Of the calls of a day: by default, a project may make 10,000 calls and 100 searches. */
const SEARCH_SHARE = 0.01;
const DAY_MS = 86_400_000;

const CALLS = numberIn(0, Number.MAX_SAFE_INTEGER);
const isKept = fields({ day: text(), searches: CALLS, units: CALLS });

/**
 * The remaining quota of the key's project today. The day is in Pacific time:
 * developers.google.com/youtube/v3/getting-started#quota (seen 2026-11).
 *
 * Instances read and write the day's calls without a lock, so calls at the same moment may be counted once. YouTube's own
 * count decides.
 */
export function createDailyQuota({ clock, unitsPerDay, kept, breakers }: DailyQuotaOptions) {
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

  async function readShared(): Promise<void> {
    const shared = parseJson((await kept.read()) ?? '', isKept);
    startNewDay();
    if (shared?.day !== day) return;
    spent = { searches: Math.max(spent.searches, shared.searches), units: Math.max(spent.units, shared.units) };
  }

  /** The store reports its failures, and the count in memory goes on. */
  function writeShared(): Promise<void> {
    return kept.write(JSON.stringify({ day, ...spent }));
  }

  return {
    /** @throws BreakerOpenError if the daily quota is spent */
    async spend(allowance: Allowance): Promise<void> {
      breakers[allowance].check();
      await readShared();
      if (spent[allowance] >= perDay[allowance]) throw breakers[allowance].openUntil(clock.now() + msUntilNextDay());
      spent[allowance] += 1;
      await writeShared();
    },
    /** The API reports that nothing is left until the day ends, because others use the same project. */
    async exhaust(allowance: Allowance): Promise<BreakerOpenError> {
      startNewDay();
      spent[allowance] = perDay[allowance];
      await writeShared();
      return breakers[allowance].openUntil(clock.now() + msUntilNextDay());
    },
    stats(): readonly SourceQuota[] {
      startNewDay();
      return (['searches', 'units'] as const).map((name) => ({ name, spent: spent[name], perDay: perDay[name] }));
    },
  };
}
