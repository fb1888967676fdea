import { expect, test } from 'vitest';
import { createBudget } from '../../src/site/budget.ts';

function remaining(count: number): Headers {
  return new Headers({ 'ratelimit-policy': '"default";q=10;w=30', ratelimit: `"default";r=${count};t=30` });
}

test('the playground shows the lowest remaining count if responses arrive in another order', () => {
  let nowMs = 0;
  const budget = createBudget(() => nowMs);
  const [first, second] = [budget.begin(), budget.begin()];
  nowMs = 100;
  budget.end(second, remaining(7));
  nowMs = 110;
  budget.end(first, remaining(8));
  expect(budget.state()?.remaining).toBe(7);
});

test('the playground uses the remaining count of the response to the latest request', () => {
  let nowMs = 0;
  const budget = createBudget(() => nowMs);
  budget.end(budget.begin(), remaining(2));
  nowMs = 30_000;
  const later = budget.begin();
  nowMs = 30_050;
  budget.end(later, remaining(9));
  expect(budget.state()?.remaining).toBe(9);
});
