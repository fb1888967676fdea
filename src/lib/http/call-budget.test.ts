import { setImmediate as nextTurn } from 'node:timers/promises';
import { beforeEach, describe, expect, it } from 'vitest';
import { createManualClock, type ManualClock } from '../../../test/helpers/clock.ts';
import { type CallBudget, type CallBudgetOptions, createCallBudget, LocalLimitError } from './call-budget.ts';

const never = new AbortController().signal;

let clock: ManualClock;
let budget: CallBudget;

beforeEach(() => {
  clock = createManualClock();
  budget = createBudget();
});

/** 10 calls a second, a burst of 100. */
function createBudget(options: Partial<CallBudgetOptions> = {}): CallBudget {
  return createCallBudget({
    clock,
    callsPerSecond: 10,
    burst: 100,
    ...options,
  });
}

/** Moves the clock, and lets every timer fire at its time. */
async function pass(ms: number): Promise<void> {
  await nextTurn();
  clock.advance(ms);
  await nextTurn();
}

interface Asked {
  granted: number;
  readonly refusals: LocalLimitError[];
}

/** Requests this many calls at the same time, and counts the results. */
function ask(client: string, calls = 1, asked: Asked = { granted: 0, refusals: [] }): Asked {
  for (let call = 0; call < calls; call += 1) {
    budget.take(client, never).then(
      () => {
        asked.granted += 1;
      },
      (error: unknown) => asked.refusals.push(error as LocalLimitError),
    );
  }
  return asked;
}

/** How many of the calls have their turn at once. */
async function granted(asked: Asked): Promise<number> {
  await pass(0);
  return asked.granted;
}

describe('a budget with one client', () => {
  it('admits three quarters of the burst at once, and then its rate', async () => {
    const asked = ask('hog', 100);
    await pass(0);
    expect(asked.granted).toBe(75);
    await pass(1_000);
    expect(asked.granted).toBe(85);
    await pass(1_000);
    expect(asked.granted).toBe(95);
  });

  it('rejects a call at once that would wait longer than 2 s, with the time of its turn', async () => {
    const asked = ask('hog', 96);
    await pass(0);
    expect(asked.refusals).toHaveLength(1);
    expect(asked.refusals[0]).toBeInstanceOf(LocalLimitError);
    expect(asked.refusals[0]).toMatchObject({ code: 'upstream_unavailable', retryAfterMs: expect.closeTo(2_100, 0) });
    await pass(2_100);
    ask('hog', 1, asked);
    await pass(0);
    expect(asked.granted).toBe(96);
  });

  it('fills up again with time, to its burst and no further', async () => {
    ask('hog', 75);
    await pass(1_000);
    expect(await granted(ask('hog', 11))).toBe(10);
    await pass(60_000);
    expect(await granted(ask('hog', 76))).toBe(75);
  });

  it('gives the turn of an aborted call to the next one', async () => {
    ask('hog', 75);
    const caller = new AbortController();
    const abandoned = budget.take('hog', caller.signal);
    const next = ask('hog');
    caller.abort();
    await expect(abandoned).rejects.toMatchObject({ code: 'upstream_timeout' });
    await pass(100);
    expect(next.granted).toBe(1);
  });

  it('does not count a call that was aborted before', async () => {
    await expect(budget.take('hog', AbortSignal.abort())).rejects.toMatchObject({ code: 'upstream_timeout' });
    expect(await granted(ask('hog', 76))).toBe(75);
  });

  it('of one call at a time admits one call, and the next in its turn', async () => {
    budget = createBudget({ callsPerSecond: 1, burst: 1 });
    const asked = ask('hog', 3);
    await pass(0);
    expect(asked.granted).toBe(1);
    await pass(2_000);
    expect(asked.granted).toBe(3);
  });
});

describe('a budget with several clients', () => {
  it('limits a client to a quarter of burst and rate while others call', async () => {
    ask('stranger');
    const asked = ask('hog', 100);
    await pass(0);
    expect(asked.granted).toBe(25);
    for (let second = 0; second < 8; second += 1) {
      await pass(1_000);
      ask('hog', 10, asked);
    }
    await pass(0);
    expect(asked.granted).toBe(25 + 8 * 2.5);
  });

  it('rejects a client with the time when its own share allows a call', async () => {
    ask('stranger');
    const asked = ask('hog', 31);
    await pass(0);
    // 25 at once, then one every 400 ms, five of them within 2 s.
    expect(asked.refusals.map(({ retryAfterMs }) => retryAfterMs)).toEqual([expect.closeTo(2_400, 0)]);
    await pass(2_400);
    ask('hog', 1, asked);
    await pass(0);
    expect(asked.granted).toBe(31);
  });

  it('keeps a quarter of the burst for a second client', async () => {
    ask('hog', 100);
    const stranger = ask('stranger', 25);
    await pass(0);
    expect(stranger.granted).toBe(25);
  });

  it('lets clients take turns when it is used up', async () => {
    for (const client of ['a', 'b', 'c', 'd']) ask(client, 25);
    const [first, second, third] = [ask('e', 10), ask('f', 10), ask('g', 1)];
    await pass(300);
    expect([first.granted, second.granted, third.granted]).toEqual([1, 1, 1]);
  });

  it('rejects a call after its waiting time if other calls overtook it', async () => {
    const hog = ask('hog', 95);
    await pass(0);
    expect(hog.granted).toBe(75);
    for (const client of ['a', 'b', 'c', 'd']) ask(client, 25);
    await pass(2_000);
    expect(hog.granted).toBeLessThan(95);
    expect(hog.granted + hog.refusals.length).toBe(95);
    for (const { retryAfterMs } of hog.refusals) expect(retryAfterMs).toBeGreaterThan(0);
  });

  it('remembers a client until its share is full again', async () => {
    budget = createBudget({ callsPerSecond: 1 });
    ask('stranger');
    expect(await granted(ask('hog', 25))).toBe(25);
    await pass(20_000);
    ask('newcomer');
    expect(await granted(ask('hog', 25))).toBe(5);
  });

  it('remembers a bounded number of clients', async () => {
    budget = createBudget({ burst: 10_000 });
    for (let client = 0; client < 1_500; client += 1) ask(`client ${client}`);
    await pass(0);
    expect(budget.stats().clients).toEqual({ entries: 1_000, maxEntries: 1_000 });
    await pass(11_000);
    ask('stranger');
    expect(budget.stats().clients.entries).toBe(1);
  });

  it('admits every new client while two clients call all the time, and is never exceeded', async () => {
    const hogs = [ask('first hog', 10), ask('second hog', 10)] as const;
    const strangers: Asked[] = [];
    for (let tenths = 0; tenths < 300; tenths += 1) {
      ask('first hog', 3, hogs[0]);
      ask('second hog', 10, hogs[1]);
      if (tenths % 10 === 0) strangers.push(ask(`stranger ${tenths}`, 3));
      await pass(100);
    }
    await pass(1_000);
    expect(strangers.map(({ granted }) => granted)).toEqual(strangers.map(() => 3));
    for (const hog of hogs) expect(hog.granted).toBeLessThanOrEqual(25 + 31 * 2.5);
    expect(hogs[0].granted + hogs[1].granted + 3 * strangers.length).toBeLessThanOrEqual(100 + 31 * 10);
  });
});
