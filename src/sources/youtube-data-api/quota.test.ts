import { describe, expect, it } from 'vitest';
import { createManualClock } from '../../../test/helpers/clock.ts';
import { LocalLimitError } from '../../lib/http/call-budget.ts';
import { createDailyQuota } from './quota.ts';

const HOUR_MS = 3_600_000;
/** 22:30 in California, where it is still 30 June. */
const LATE_IN_CALIFORNIA = Date.UTC(2026, 6, 1, 5, 30);

function setUp({ unitsPerDay = 10_000, searchesPerDay = 100, startMs = LATE_IN_CALIFORNIA } = {}) {
  const clock = createManualClock(startMs);
  const quota = createDailyQuota({ clock, unitsPerDay, searchesPerDay });
  /** The number of admitted searches out of this many that are tried now. */
  function search(times: number): number {
    let done = 0;
    for (let time = 0; time < times; time += 1) {
      try {
        quota.spend('searches');
        done += 1;
      } catch (error) {
        expect(error).toBeInstanceOf(LocalLimitError);
      }
    }
    return done;
  }
  const spent = () => Object.fromEntries(quota.stats().map((each) => [each.name, each.spent]));
  return { clock, quota, search, spent };
}

describe('the daily quota', () => {
  it('counts searches separately from all other calls', () => {
    const { quota } = setUp();
    quota.spend('units');
    quota.spend('units');
    quota.spend('searches');
    expect(quota.stats()).toEqual([
      { name: 'searches', spent: 1, perDay: 100 },
      { name: 'units', spent: 2, perDay: 10_000 },
    ]);
  });

  it('refuses calls beyond it, separately for both allowances', () => {
    const { quota, spent } = setUp({ unitsPerDay: 2, searchesPerDay: 1 });
    quota.spend('units');
    quota.spend('units');
    expect(() => quota.spend('units')).toThrow(LocalLimitError);
    quota.spend('searches');
    expect(() => quota.spend('searches')).toThrow(/quota.*searches/);
    expect(spent()).toEqual({ searches: 1, units: 2 });
  });

  it.each(['searches', 'units'] as const)(
    'for %s is renewed at midnight in California, and reports when that is',
    (name) => {
      const { clock, quota, spent } = setUp({ unitsPerDay: 1, searchesPerDay: 1 });
      quota.spend(name);
      expect(() => quota.spend(name)).toThrow(expect.objectContaining({ retryAfterMs: 1.5 * HOUR_MS }));
      clock.advance(1.5 * HOUR_MS - 1);
      expect(spent()[name]).toBe(1);
      clock.advance(1);
      expect(spent()).toEqual({ searches: 0, units: 0 });
      // The only search of the day also counts for 24 hours.
      clock.advance(22.5 * HOUR_MS);
      expect(() => quota.spend(name)).not.toThrow();
    },
  );

  it('that the API reports as used up stays so until the day ends', () => {
    const { clock, quota, search } = setUp();
    quota.exhaust('searches');
    expect(search(1)).toBe(0);
    expect(() => quota.spend('units')).not.toThrow();
    clock.advance(1.5 * HOUR_MS);
    expect(search(1)).toBe(1);
  });
});

describe('the searches of a day', () => {
  it('are not used up within an hour, however many are requested', () => {
    const { clock, search, spent } = setUp({ startMs: Date.UTC(2026, 6, 1, 7) });
    expect(search(50)).toBe(20);
    for (let minute = 0; minute < 60; minute += 1) {
      clock.advance(60_000);
      search(50);
    }
    expect(spent().searches).toBe(24);
  });

  it('report when the next one is allowed', () => {
    const { quota, search } = setUp({ startMs: Date.UTC(2026, 6, 1, 7) });
    search(50);
    expect(() => quota.spend('searches')).toThrow(expect.objectContaining({ retryAfterMs: 864_000 }));
  });

  it('can all be used over the day, and no more', () => {
    const { clock, search } = setUp({ startMs: Date.UTC(2026, 6, 1, 7) });
    let done = 0;
    for (let hour = 0; hour < 24; hour += 1) {
      done += search(50);
      clock.advance(HOUR_MS);
    }
    expect(done).toBe(100);
    expect(search(1), 'of the new day').toBe(1);
  });
});
