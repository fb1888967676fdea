import { expect, test } from 'vitest';
import { createManualClock } from '../../test/helpers/clock.ts';
import { recordLog } from '../../test/helpers/log.ts';
import { createFailureLog, type FailureReport } from './failure-log.ts';

const MINUTE_MS = 60_000;

function setUp() {
  const clock = createManualClock();
  const { lines, logger } = recordLog();
  const log = createFailureLog({ logger, clock });
  const report = (key: string, more: Partial<FailureReport> = {}) =>
    log.report({ level: 'warn', key, message: 'it failed', fields: { reason: key }, ...more });
  return { clock, lines, log, report };
}

test('equal failures have one line a minute, with the number of omitted ones', () => {
  const { clock, lines, log, report } = setUp();
  expect([report('down'), report('down'), report('slow'), report('down')]).toEqual([true, false, true, false]);
  expect(lines).toEqual([
    { level: 40, msg: 'it failed', reason: 'down' },
    { level: 40, msg: 'it failed', reason: 'slow' },
  ]);
  clock.advance(MINUTE_MS - 1);
  expect(report('down')).toBe(false);
  log.summarize();
  expect(lines).toHaveLength(2);

  clock.advance(1);
  expect(report('down')).toBe(true);
  expect(lines.slice(2)).toEqual([{ level: 40, msg: 'it failed', reason: 'down', repeated: 3 }]);
});

test('omitted failures are summarized when no more of them occur', () => {
  const { clock, lines, log, report } = setUp();
  report('down');
  report('down', { fields: { reason: 'down', requestId: 'r-2' } });
  clock.advance(MINUTE_MS);
  log.summarize();
  log.summarize();
  expect(lines.slice(1)).toEqual([{ level: 40, msg: 'it failed', reason: 'down', requestId: 'r-2', repeated: 1 }]);
  clock.advance(MINUTE_MS);
  log.summarize();
  expect(lines).toHaveLength(2);
});

test('the log is bounded, whatever foreign text is in its keys', () => {
  const { log, report } = setUp();
  for (let at = 0; at < 5_000; at += 1) report(`${at} ${'x'.repeat(10_000)}`);
  const { entries = 0, maxEntries } = log.stats();
  expect(entries).toBe(maxEntries);
});
