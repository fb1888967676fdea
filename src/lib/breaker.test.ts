import { beforeEach, describe, expect, it } from 'vitest';
import { createManualClock, type ManualClock } from '../../test/helpers/clock.ts';
import { AppError, type ErrorCode } from '../domain/errors.ts';
import { type Breaker, type BreakerState, createBreaker } from './breaker.ts';

const NEVER = new AbortController().signal;
const MINUTE_MS = 60_000;

let clock: ManualClock;
let breaker: Breaker;
let changes: (BreakerState | undefined)[];
let keys: number;
beforeEach(() => {
  clock = createManualClock(Date.UTC(2026, 10, 23, 14, 9));
  changes = [];
  keys = 0;
  breaker = createBreaker({ clock, label: 'YouTube', onChange: (state) => changes.push(state) });
});

function nextKey(): string {
  keys += 1;
  return `key ${keys}`;
}

const succeed = (key = nextKey()) => breaker.run(key, async () => 'found', NEVER);

/** @returns the error of the call */
function fail(reason: ErrorCode | Error = 'upstream_timeout', key = nextKey(), signal = NEVER): Promise<unknown> {
  const error = reason instanceof Error ? reason : new AppError(reason, 'It failed.');
  return breaker.run(key, () => Promise.reject(error), signal).catch((thrown: unknown) => thrown);
}

const refuse = () => breaker.run(nextKey(), async () => Promise.reject(breaker.refuse('status 429')), NEVER);

async function failForKeys(count: number): Promise<void> {
  for (let failed = 0; failed < count; failed += 1) await fail();
}

/** Lets the open time pass. @returns its length */
function becomeHalfOpen(): number {
  const ms = (breaker.state()?.untilMs ?? 0) - clock.now();
  clock.advance(ms);
  return ms;
}

describe('a breaker', () => {
  it('counts a failing key once, and no abort, no bug, and no readable response', async () => {
    const inconclusive = new AppError('upstream_unavailable', 'Not in your country.', { scope: 'answer' });
    const aborted = AbortSignal.abort();
    for (let call = 0; call < 10; call += 1) {
      await fail('upstream_timeout', 'one');
      await fail(new TypeError('a bug'));
      await fail('upstream_timeout', nextKey(), aborted);
    }
    for (let call = 0; call < 10; call += 1) await fail(call % 2 === 0 ? inconclusive : 'channel_not_found');
    expect(breaker.state()).toBeUndefined();
  });

  it('lets one trial through when it is half-open, and closes when that succeeds', async () => {
    await failForKeys(5);
    becomeHalfOpen();
    const response = Promise.withResolvers<string>();
    const trial = breaker.run('trial', () => response.promise, NEVER);
    await expect(succeed()).rejects.toMatchObject({ name: 'BreakerOpenError', retryAfterMs: 1_000 });
    response.resolve('found');
    expect(await trial).toBe('found');
    expect(await succeed()).toBe('found');
    expect(changes.map((state) => state?.reason)).toEqual(['failing', undefined]);
  });

  it.each([
    ['failing', () => fail(), () => failForKeys(5), [10, 20, 40, 80, 160, 300, 300]],
    ['refused', () => refuse(), () => refuse().catch(() => undefined), [60, 120, 240, 480, 960, 1_920, 3_600, 3_600]],
    // It cannot be told whether the refusal has ended.
    ['refused', () => fail(), () => refuse().catch(() => undefined), [60, 120, 240]],
  ])(
    'doubles the open time of "%s" with each trial that fails, up to a limit',
    async (reason, tryIt, open, seconds) => {
      await open();
      for (const expected of seconds) {
        expect(breaker.state()?.reason).toBe(reason);
        expect(becomeHalfOpen()).toBe(expected * 1_000);
        await Promise.resolve(tryIt()).catch(() => undefined);
      }
    },
  );

  it('leaves the trial to the next call when a trial failed for its own key', async () => {
    await failForKeys(5);
    becomeHalfOpen();
    await fail('upstream_invalid');
    expect(await succeed()).toBe('found');
  });

  it('opens at once when this address is refused, for the time that is named if that is longer', async () => {
    expect(breaker.refuse('status 429', 90_000)).toMatchObject({ code: 'upstream_unavailable', retryAfterMs: 90_000 });
    // Another call was under way.
    clock.advance(1_000);
    breaker.refuse('status 429');
    expect(breaker.state()).toMatchObject({ reason: 'refused', untilMs: clock.now() + 89_000 });
    expect(breaker.state()?.description).toBe(
      'YouTube refuses this address since 2026-11-23 14:09:00 UTC (status 429); next call at 2026-11-23 14:10:30 UTC',
    );
  });

  it('is open until the time at which a quota is renewed, whatever the wall clock does', async () => {
    breaker.openUntil(clock.now() + MINUTE_MS);
    expect(breaker.state()?.reason).toBe('quota');
    clock.jumpWallClock(3_600_000);
    await expect(succeed()).rejects.toMatchObject({ retryAfterMs: MINUTE_MS });
    clock.advance(MINUTE_MS);
    expect(await succeed()).toBe('found');
  });

  it('ignores calls that began before it opened or closed', async () => {
    const late = Promise.withResolvers<string>();
    const early = breaker.run('early', () => late.promise, NEVER);
    await failForKeys(5);
    late.resolve('found');
    await early;
    expect(() => breaker.check()).toThrow('paused after failures');
  });
});
