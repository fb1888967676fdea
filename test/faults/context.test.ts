import { expect, test } from 'vitest';
import { createContext, metricValue } from './context.ts';
import { createReport, type Outcome, percentile } from './report.ts';

const HELD: Outcome = { measured: 'fine', faults: [] };
const SLOW: Outcome = { measured: 'slow', faults: [], exceeded: ['p99 60 ms, more than 50 ms'] };
const LOST: Outcome = { measured: 'cut', faults: ['a response was cut'], exceeded: ['p99 60 ms, more than 50 ms'] };

/** The table after attacks with these results. */
async function measure(...outcomes: (Outcome | Error)[]) {
  const report = createReport(() => undefined);
  const context = createContext(report, { isLong: false, isChosen: (name) => name !== 'unwanted' });
  let attempts = 0;
  const attempt = async () => {
    const outcome = outcomes[attempts] as Outcome | Error;
    attempts += 1;
    if (outcome instanceof Error) throw outcome;
    return outcome;
  };
  await context.measure('clients', 'an attack', attempt);
  await context.measure('clients', 'unwanted', attempt);
  return {
    attempts,
    violations: report.violations(),
    missed: report.missedBounds(),
    rows: report.rows(),
    table: report.table(),
  };
}

test('an attack without a loss runs once', async () => {
  expect(await measure(HELD)).toMatchObject({ attempts: 1, violations: 0, rows: 1 });
});

test('an attack that misses a bound on time or memory is repeated once, and the table says so', async () => {
  const { attempts, violations, table } = await measure(SLOW, HELD);
  expect([attempts, violations]).toEqual([2, 0]);
  expect(table).toContain('fine; measured again, since at first p99 60 ms, more than 50 ms');
});

test('a bound that is missed twice counts as missed, not as a loss', async () => {
  expect(await measure(SLOW, SLOW)).toMatchObject({ attempts: 2, violations: 0, missed: 1 });
});

test('an attack with a loss is never repeated, nor is one that did not finish', async () => {
  expect(await measure(LOST)).toMatchObject({ attempts: 1, violations: 1 });
  expect(await measure(new Error('connection reset'))).toMatchObject({ attempts: 1, violations: 1 });
  expect(await measure(SLOW, LOST)).toMatchObject({ attempts: 2, violations: 1 });
});

test('a series that is absent, and a percentile of nothing, are errors', () => {
  expect(metricValue('a_total 3\n', 'a_total')).toBe(3);
  expect(metricValue('a_total 3\n', 'b_total{kind="x"}', 0)).toBe(0);
  expect(() => metricValue('a_total 3\n', 'b_total')).toThrow('no series b_total');
  expect(() => percentile([], 0.99)).toThrow('nothing was measured');
});
