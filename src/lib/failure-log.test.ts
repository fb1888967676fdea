import { expect, test } from 'vitest';
import { createManualClock } from '../../test/helpers/clock.ts';
import { recordLog } from '../../test/helpers/log.ts';
import { createFailureLog, type FailureReport } from './failure-log.ts';

function setUp() {
  const clock = createManualClock();
  const { lines, logger } = recordLog();
  const log = createFailureLog({ logger, clock });
  const report = (key: string, more: Partial<FailureReport> = {}) =>
    log.report({ level: 'warn', key, message: 'it failed', fields: { reason: key }, ...more });
  return { clock, lines, log, report };
}

test('the log is bounded, whatever foreign text is in its keys', () => {
  const { log, report } = setUp();
  for (let at = 0; at < 5_000; at += 1) report(`${at} ${'x'.repeat(10_000)}`);
  const { entries = 0, maxEntries } = log.stats();
  expect(entries).toBe(maxEntries);
});
