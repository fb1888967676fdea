import { expect, test } from 'vitest';
import { createManualClock } from '../../test/helpers/clock.ts';
import { recordLog } from '../../test/helpers/log.ts';
import { createFailureLog } from './failure-log.ts';

test('the log is bounded, whatever foreign text is in its keys', () => {
  const log = createFailureLog({ logger: recordLog().logger, clock: createManualClock() });
  for (let at = 0; at < 5_000; at += 1) {
    log.report({ level: 'warn', key: `${at} ${'x'.repeat(10_000)}`, message: 'it failed', fields: {} });
  }
  const { entries = 0, maxEntries } = log.stats();
  expect(entries).toBe(maxEntries);
});
