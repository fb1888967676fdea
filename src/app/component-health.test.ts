import { pino } from 'pino';
import { expect, test } from 'vitest';
import { createManualClock } from '../../test/helpers/clock.ts';
import { createPartStates } from './component-health.ts';

function setUp() {
  const clock = createManualClock();
  const lines: { msg: string; changes?: number }[] = [];
  const logger = pino({ base: null, timestamp: false }, { write: (text: string) => lines.push(JSON.parse(text)) });
  return { clock, lines, states: createPartStates(logger, clock) };
}

test('a change of state has a line, another reason for the same state has none', () => {
  const { lines, states } = setUp();
  states.report('redis', 'not used (refused)');
  states.report('redis', 'not used (time-out)');
  expect(states.problems()).toEqual([['redis', 'not used (time-out)']]);
  states.report('redis', null);
  states.report('redis', null);
  expect(states.problems()).toEqual([]);
  expect(lines.map(({ msg }) => msg)).toEqual(['redis: not used (refused)', 'redis works again']);
});

test('a part that comes and goes has a few lines a minute, and the last one says how it is', () => {
  const { clock, lines, states } = setUp();
  for (let round = 0; round < 100; round += 1) {
    states.report('pictures', 'cannot be stored');
    states.report('pictures', null);
  }
  states.report('pictures', 'cannot be stored');
  states.summarize();
  expect(lines).toHaveLength(4);
  clock.advance(60_000);
  states.summarize();
  states.summarize();
  expect(lines.slice(4)).toMatchObject([{ msg: 'pictures: cannot be stored', changes: 197 }]);
});
