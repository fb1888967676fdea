import { setImmediate as nextTurn } from 'node:timers/promises';
import { beforeEach, describe, expect, it } from 'vitest';
import { clientOf } from '../../../test/helpers/clients.ts';
import { createManualClock, type ManualClock } from '../../../test/helpers/clock.ts';
import { type CallBudget, createCallBudget, NotSentError } from './call-budget.ts';

/** Ten calls per second. */
const CALL_MS = 100;

let clock: ManualClock;
let budget: CallBudget;

beforeEach(() => {
  clock = createManualClock();
  // A burst of 100.
  budget = createCallBudget({ clock, callsPerSecond: 10 });
});

/** Moves the clock from one call’s turn to the next. */
async function pass(ms: number): Promise<void> {
  await nextTurn();
  for (let passedMs = 0; passedMs < ms; passedMs += CALL_MS) {
    clock.advance(CALL_MS);
    await nextTurn();
  }
}

interface Asked {
  granted: number;
  readonly refusals: NotSentError[];
}

/** Requests this many calls at the same time, and counts the results. */
function ask(client: string, calls = 1, asked: Asked = { granted: 0, refusals: [] }): Asked {
  for (let call = 0; call < calls; call += 1) {
    budget.take(clientOf(client), new AbortController().signal).then(
      () => {
        asked.granted += 1;
      },
      (error: unknown) => asked.refusals.push(error as NotSentError),
    );
  }
  return asked;
}

describe('a budget with one client', () => {
  it('admits the burst at once, and then its rate', async () => {
    const asked = ask('hog', 120);
    await pass(0);
    expect(asked.granted).toBe(100);
    await pass(1_000);
    expect(asked.granted).toBe(110);
    await pass(1_000);
    expect(asked.granted).toBe(120);
  });

  it('rejects a call at once that would wait longer than 2 s, with the time of its turn', async () => {
    const asked = ask('hog', 121);
    await pass(0);
    expect(asked.refusals).toHaveLength(1);
    expect(asked.refusals[0]).toBeInstanceOf(NotSentError);
    expect(asked.refusals[0]).toMatchObject({ code: 'upstream_unavailable', retryAfterMs: expect.closeTo(2_100, 0) });
    await pass(2_100);
    ask('hog', 1, asked);
    await pass(0);
    expect(asked.granted).toBe(121);
  });

  it('gives the turn of an aborted call to the next one', async () => {
    ask('hog', 100);
    const caller = new AbortController();
    const abandoned = budget.take(clientOf('hog'), caller.signal);
    const next = ask('hog');
    caller.abort();
    await expect(abandoned).rejects.toMatchObject({ code: 'upstream_timeout' });
    await pass(100);
    expect(next.granted).toBe(1);
  });
});
