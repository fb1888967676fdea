import { pino } from 'pino';
import type { HolderReading } from '../../src/lib/holders.ts';
import { createRuntime, type Runtime } from '../../src/lib/runtime.ts';
import { createManualClock } from './clock.ts';

/** What a cache, map or queue of the component holds, by the name that it registers. */
export function heldBy({ holders }: Runtime, name: string): HolderReading {
  const found = holders.read().find((holder) => holder.name === name);
  if (found === undefined) throw new Error(`Nothing is registered as "${name}".`);
  return found;
}

/** The runtime of a component under test; logs nothing unless the test gives a logger. */
export function createTestRuntime({
  clock = createManualClock(),
  logger = pino({ level: 'silent' }),
}: Partial<Pick<Runtime, 'clock' | 'logger'>> = {}): Runtime {
  return createRuntime({ clock, logger });
}
