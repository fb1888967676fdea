import { createEncoder, type Encoder } from '../../src/images/encoder/encoder.ts';
import { createManualClock } from './clock.ts';

/** Ends with the test process. Starting one for each file would take a quarter of a second of CPU time. */
let running: Encoder | undefined;

/**
 * A real encoder that all tests of this process share, without a time limit. A service that is given it does not close it.
 */
export function sharedEncoder(): Encoder {
  running ??= createEncoder({ processes: 1, clock: createManualClock() });
  return { ...running, close: async () => undefined };
}
