import { pino } from 'pino';
import { createRuntime, type Runtime } from '../../src/lib/runtime.ts';
import { createManualClock } from './clock.ts';

/** The runtime of a component under test. Logs nothing unless the test passes a logger. */
export function createTestRuntime({
  clock = createManualClock(),
  logger = pino({ level: 'silent' }),
}: Partial<Pick<Runtime, 'clock' | 'logger'>> = {}): Runtime {
  return createRuntime({ clock, logger });
}
