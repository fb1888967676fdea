import { describe, expect, it } from 'vitest';
import { createManualClock } from '../../../test/helpers/clock.ts';
import { OwnLimitError } from '../../lib/resilience/own-limit.ts';
import { createDailyQuota } from './quota.ts';

const HOUR_MS = 3_600_000;
/** 22:30 in California, where it is still 30 June. */
const LATE_IN_CALIFORNIA = Date.UTC(2026, 6, 1, 5, 30);

describe('the daily quota', () => {
  it('counts one unit for a channel and a hundred for a search', () => {
    const quota = createDailyQuota(createManualClock(), 10_000);
    quota.spend('channel');
    quota.spend('search');
    expect(quota.stats()).toEqual({ spentUnits: 101, unitsPerDay: 10_000 });
  });

  it('refuses what would go beyond it', () => {
    const quota = createDailyQuota(createManualClock(), 2);
    quota.spend('channel');
    quota.spend('channel');
    expect(() => quota.spend('channel')).toThrow(OwnLimitError);
    expect(quota.stats().spentUnits).toBe(2);
  });

  it('keeps half of itself from searches', () => {
    const quota = createDailyQuota(createManualClock(), 400);
    quota.spend('search');
    quota.spend('search');
    expect(() => quota.spend('search')).toThrow(/quota.*searches/);
    expect(() => quota.spend('channel')).not.toThrow();
  });

  it('is renewed at midnight in California, and says how long that is', () => {
    const clock = createManualClock(LATE_IN_CALIFORNIA);
    const quota = createDailyQuota(clock, 1);
    quota.spend('channel');
    expect(() => quota.spend('channel')).toThrow(expect.objectContaining({ retryAfterMs: 1.5 * HOUR_MS }));
    clock.advance(1.5 * HOUR_MS - 1);
    expect(() => quota.spend('channel')).toThrow(OwnLimitError);
    clock.advance(1);
    expect(quota.stats().spentUnits).toBe(0);
    expect(() => quota.spend('channel')).not.toThrow();
  });
});
