import { expect, test } from 'vitest';
import { createManualClock } from '../../test/helpers/clock.ts';
import { recordLog } from '../../test/helpers/log.ts';
import { createFailureLog } from './failure-log.ts';

test('the log forgets failures when there are many, whatever foreign text is in their keys', () => {
  const log = createFailureLog({ logger: recordLog().logger, clock: createManualClock() });
  const report = (at: number) =>
    log.report({ level: 'warn', key: `${at} ${'x'.repeat(10_000)}`, message: 'it failed', fields: {} });
  expect([report(0), report(0)]).toEqual([true, false]);
  for (let at = 1; at <= 200; at += 1) report(at);
  expect(report(0)).toBe(true);
});
