import type { Registry } from '@prometheus-io/client';
import { pino } from 'pino';
import { type BoundedStats, readSamples } from '../../src/lib/metrics.ts';
import { createRuntime, type Runtime } from '../../src/lib/runtime.ts';
import { createManualClock } from './clock.ts';

/** The gauges of a cache, map or queue, whose names begin with `name`. */
export async function readBound(metrics: Registry, name: string): Promise<Record<keyof BoundedStats, number>> {
  const read = async (figure: string) => (await readSamples(metrics, `${name}_${figure}`))[0]?.value ?? Number.NaN;
  return {
    entries: await read('entries'),
    maxEntries: await read('max_entries'),
    bytes: await read('bytes'),
    maxBytes: await read('max_bytes'),
  };
}

/** The runtime of a component under test. Logs nothing unless the test passes a logger. */
export function createTestRuntime({
  clock = createManualClock(),
  logger = pino({ level: 'silent' }),
}: Partial<Pick<Runtime, 'clock' | 'logger'>> = {}): Runtime {
  return createRuntime({ clock, logger });
}
