import { expect, test } from 'vitest';
import { createManualClock } from '../../test/helpers/clock.ts';
import { recordLog } from '../../test/helpers/log.ts';
import { createComponentHealth } from './component-health.ts';

function setUp() {
  const clock = createManualClock();
  const { lines, logger } = recordLog();
  return { clock, lines, health: createComponentHealth(logger, clock) };
}

test('a change of state is logged, another reason for the same state is not', () => {
  const { lines, health } = setUp();
  health.report('redis', 'not used (refused)');
  health.report('redis', 'not used (time-out)');
  expect(health.problems()).toEqual([['redis', 'not used (time-out)']]);
  health.report('redis', null);
  health.report('redis', null);
  expect(health.problems()).toEqual([]);
  expect(lines.map(({ msg }) => msg)).toEqual(['redis: not used (refused)', 'redis works again']);
});

test('a component that fails and recovers repeatedly has four lines a minute, and the last line has its state', () => {
  const { clock, lines, health } = setUp();
  for (let round = 0; round < 100; round += 1) {
    health.report('images', 'cannot be stored');
    health.report('images', null);
  }
  health.report('images', 'cannot be stored');
  health.summarize();
  expect(lines).toHaveLength(4);
  clock.advance(60_000);
  health.summarize();
  health.summarize();
  expect(lines.slice(4)).toMatchObject([{ msg: 'images: cannot be stored', changes: 197 }]);
});
