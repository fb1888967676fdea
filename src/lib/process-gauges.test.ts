import { expect, test } from 'vitest';
import { delaySecondsOf } from './process-gauges.ts';

test('the delay of the event loop is without the time between two samples, which Node includes', () => {
  expect(delaySecondsOf(20_135_935)).toBeCloseTo(0.000_136, 6);
  expect(delaySecondsOf(70_000_000)).toBeCloseTo(0.05, 6);
  expect(delaySecondsOf(0)).toBe(0);
});
