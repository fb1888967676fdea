import { expect, test } from 'vitest';
import { createManualClock } from '../../test/helpers/clock.ts';
import { recordLog } from '../../test/helpers/log.ts';
import { createComponentHealth } from './component-health.ts';
import { createFailureLog } from './failure-log.ts';

test('a component that fails and recovers repeatedly has two lines a minute, and the last line has its state', () => {
  const clock = createManualClock();
  const { lines, logger } = recordLog();
  const log = createFailureLog({ logger, clock });
  const health = createComponentHealth(log);
  for (let round = 0; round < 100; round += 1) {
    health.report('images', 'cannot be stored');
    health.report('images', null);
  }
  health.report('images', 'cannot be stored');
  log.summarize();
  expect(lines).toHaveLength(2);
  clock.advance(60_000);
  log.summarize();
  log.summarize();
  expect(lines.slice(2)).toMatchObject([
    { msg: 'images works again', repeated: 99 },
    { msg: 'images: cannot be stored', repeated: 100 },
  ]);
});
