import { beforeEach, describe, expect, test } from 'vitest';
import { type Budget, createBudget } from './budget.ts';

let nowMs: number;
let budget: Budget;
beforeEach(() => {
  nowMs = 0;
  budget = createBudget(() => nowMs);
});

/** The header fields of a response: ten requests in 30 s, the next one is free in 12 s. */
function remaining(count: number): Headers {
  return new Headers({ 'ratelimit-policy': '"default";q=10;w=30', ratelimit: `"default";r=${count};t=12` });
}

describe('the budget', () => {
  test('is unknown before the first response', () => {
    expect([budget.state(), budget.waitMs(2)]).toEqual([undefined, 0]);
  });

  test('reads seconds and reports milliseconds', () => {
    budget.end(budget.begin(), remaining(4));
    nowMs = 2_000;
    expect(budget.state()).toEqual({ limit: 10, remaining: 4, nextInMs: 10_000 });
  });

  test('has one more request after the named time, and all of them after the window', () => {
    budget.end(budget.begin(), remaining(4));
    for (const [at, left] of [
      [11_999, 4],
      [12_000, 5],
      [29_999, 5],
      [30_000, 10],
    ] as const) {
      nowMs = at;
      expect([at, budget.state()?.remaining]).toEqual([at, left]);
    }
  });

  test('counts requests in flight', () => {
    budget.end(budget.begin(), remaining(4));
    budget.begin();
    expect(budget.state()?.remaining).toBe(3);
  });

  test('names the wait for one request beyond the reserve, and the window for more', () => {
    budget.end(budget.begin(), remaining(2));
    nowMs = 1_000;
    expect([budget.waitMs(1), budget.waitMs(2), budget.waitMs(3)]).toEqual([0, 11_000, 29_000]);
  });

  test('is unchanged by a failed request', () => {
    budget.end(budget.begin(), remaining(4));
    budget.end(budget.begin(), undefined);
    expect(budget.state()?.remaining).toBe(4);
  });

  test('has one request less after one that the page has cancelled', () => {
    budget.end(budget.begin(), remaining(4));
    budget.end(budget.begin(), 'cancelled');
    expect(budget.state()?.remaining).toBe(3);
  });

  test('is the lowest remaining count if responses to simultaneous requests arrive in another order', () => {
    const [first, second] = [budget.begin(), budget.begin()];
    nowMs = 100;
    budget.end(second, remaining(7));
    nowMs = 110;
    budget.end(first, remaining(8));
    expect(budget.state()?.remaining).toBe(7);
  });

  test('is the remaining count of the response to the latest request', () => {
    budget.end(budget.begin(), remaining(2));
    nowMs = 30_000;
    const later = budget.begin();
    nowMs = 30_050;
    budget.end(later, remaining(9));
    expect(budget.state()?.remaining).toBe(9);
  });
});
