import { beforeEach, describe, expect, it } from 'vitest';
import { createManualClock, type ManualClock } from '../../../test/helpers/clock.ts';
import { type CallBudget, createCallBudget } from './call-budget.ts';
import { OwnLimitError } from './own-limit.ts';

const never = new AbortController().signal;

let clock: ManualClock;
let budget: CallBudget;
/** What each waiting caller was told to wait, in milliseconds. */
let waits: number[];
let wake: (() => void)[];

beforeEach(() => {
  clock = createManualClock();
  waits = [];
  wake = [];
  budget = createCallBudget({
    clock,
    callsPerSecond: 10,
    burst: 100,
    sleep: (ms, signal) => {
      waits.push(Math.round(ms));
      return new Promise((resolve, reject) => {
        wake.push(resolve);
        signal.addEventListener('abort', () => reject(signal.reason));
      });
    },
  });
});

async function takeMany(count: number): Promise<void> {
  for (let taken = 0; taken < count; taken += 1) await budget.take(never);
}

describe('a budget of calls', () => {
  it('lets a burst through at once', async () => {
    await takeMany(100);
    expect(waits).toEqual([]);
    expect(budget.stats().available).toBe(0);
  });

  it('then gives out turns at its rate, in order', async () => {
    await takeMany(100);
    const turns = [budget.take(never), budget.take(never), budget.take(never)];
    expect(waits).toEqual([100, 200, 300]);
    expect(budget.stats().waiting).toBe(3);
    for (const resolve of wake) resolve();
    await Promise.all(turns);
    expect(budget.stats().waiting).toBe(0);
  });

  it('tells a caller at once when its turn would come later than in two seconds', async () => {
    await takeMany(100);
    const turns = Array.from({ length: 20 }, () => budget.take(never));
    expect(waits.at(-1)).toBe(2_000);
    const refused = budget.take(never);
    await expect(refused).rejects.toBeInstanceOf(OwnLimitError);
    await expect(refused).rejects.toMatchObject({ code: 'upstream_unavailable', retryAfterMs: 2_100 });
    expect(budget.stats().refused).toBe(1);
    for (const resolve of wake) resolve();
    await Promise.all(turns);
  });

  it('fills up again with time, to its burst and no further', async () => {
    await takeMany(100);
    clock.advance(1_000);
    expect(budget.stats().available).toBe(10);
    clock.advance(60_000);
    expect(budget.stats().available).toBe(100);
  });

  it('gives the turn of a caller that went away to the next', async () => {
    await takeMany(100);
    const caller = new AbortController();
    const abandoned = budget.take(caller.signal);
    caller.abort();
    await expect(abandoned).rejects.toMatchObject({ code: 'upstream_timeout' });
    void budget.take(never);
    expect(waits).toEqual([100, 100]);
  });

  it('costs nothing when the caller had gone before it asked', async () => {
    await expect(budget.take(AbortSignal.abort())).rejects.toMatchObject({ code: 'upstream_timeout' });
    expect(budget.stats().available).toBe(100);
  });

  it('waits in real time unless told otherwise', async () => {
    const real = createCallBudget({ clock, callsPerSecond: 20, burst: 1 });
    await real.take(never);
    const startedAt = performance.now();
    await real.take(never);
    expect(performance.now() - startedAt).toBeGreaterThan(45);
  });
});
