import { describe, expect, it } from 'vitest';
import { createManualClock } from '../../../test/helpers/clock.ts';
import { createQuotaBreakers } from '../../../test/helpers/data-api.ts';
import { createMemoryText } from '../../../test/helpers/youtube-source.ts';
import { BreakerOpenError } from '../../lib/breaker.ts';
import { createDailyQuota } from './quota.ts';

const HOUR_MS = 3_600_000;
/** 22:30 in California, where it is still 30 June. */
const LATE_IN_CALIFORNIA = Date.UTC(2026, 6, 1, 5, 30);

function setUp({ unitsPerDay = 10_000, startMs = LATE_IN_CALIFORNIA, kept = createMemoryText() } = {}) {
  const clock = createManualClock(startMs);
  const breakers = createQuotaBreakers(clock);
  const quota = createDailyQuota({ clock, unitsPerDay, kept, breakers });
  const spent = () => Object.fromEntries(quota.stats().map((each) => [each.name, each.spent]));
  return { clock, quota, spent };
}

describe('the daily quota', () => {
  it('counts searches separately from all other calls', async () => {
    const { quota } = setUp();
    await quota.spend('units');
    await quota.spend('units');
    await quota.spend('searches');
    expect(quota.stats()).toEqual([
      { name: 'searches', spent: 1, perDay: 100 },
      { name: 'units', spent: 2, perDay: 10_000 },
    ]);
  });

  it('refuses calls beyond it, separately for both allowances', async () => {
    const { quota, spent } = setUp({ unitsPerDay: 2 });
    await quota.spend('units');
    await quota.spend('units');
    await expect(quota.spend('units')).rejects.toThrow(BreakerOpenError);
    await quota.spend('searches');
    await expect(quota.spend('searches')).rejects.toThrow(/quota.*searches/);
    expect(spent()).toEqual({ searches: 1, units: 2 });
  });

  it.each(['searches', 'units'] as const)(
    'for %s is renewed at midnight in California, and reports when that is',
    async (name) => {
      const { clock, quota, spent } = setUp({ unitsPerDay: 1 });
      await quota.spend(name);
      await expect(quota.spend(name)).rejects.toThrow(expect.objectContaining({ retryAfterMs: 1.5 * HOUR_MS }));
      clock.advance(1.5 * HOUR_MS - 1);
      expect(spent()[name]).toBe(1);
      clock.advance(1);
      expect(spent()).toEqual({ searches: 0, units: 0 });
      await quota.spend(name);
    },
  );

  it('counts the calls before a restart, and those of other instances', async () => {
    const kept = createMemoryText();
    const first = setUp({ unitsPerDay: 3, kept });
    await first.quota.spend('units');
    const second = setUp({ unitsPerDay: 3, kept });
    await second.quota.spend('units');
    await first.quota.spend('units');
    await expect(second.quota.spend('units')).rejects.toThrow(BreakerOpenError);
    expect(second.spent()).toEqual({ searches: 0, units: 3 });
    kept.text = 'no JSON';
    await setUp({ unitsPerDay: 3, kept }).quota.spend('units');
  });

  it('that the API reports as used up stays so until the day ends', async () => {
    const { clock, quota } = setUp();
    await quota.exhaust('searches');
    await expect(quota.spend('searches')).rejects.toThrow(BreakerOpenError);
    await quota.spend('units');
    clock.advance(1.5 * HOUR_MS);
    await quota.spend('searches');
  });
});
