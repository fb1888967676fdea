import { pino } from 'pino';
import type { HolderReading } from '../../src/lib/holders.ts';
import { createRuntime, type Runtime } from '../../src/lib/runtime.ts';
import { createManualClock } from './clock.ts';

/** The statistics of a cache, map or queue of the component, by its registered name. */
export function heldBy({ holders }: Runtime, name: string): HolderReading {
  const found = holders.read().find((holder) => holder.name === name);
  if (found === undefined) throw new Error(`Nothing is registered as "${name}".`);
  return found;
}

/** The runtime of a component under test. Logs nothing unless the test passes a logger. */
export function createTestRuntime({
  clock = createManualClock(),
  logger = pino({ level: 'silent' }),
}: Partial<Pick<Runtime, 'clock' | 'logger'>> = {}): Runtime {
  return createRuntime({ clock, logger });
}
