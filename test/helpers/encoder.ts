import { createEncoder, type Encoder } from '../../src/images/encoder/encoder.ts';

/** Ends with the test process. Starting one for each file would take a quarter of a second of CPU time. */
let running: Encoder | undefined;

/**
 * A real encoder that all tests of this process share. A service that is given it does not close it.
 */
export function sharedEncoder(): Encoder {
  running ??= createEncoder({ processes: 1, deadlineMs: 60_000 });
  return { ...running, close: async () => undefined };
}
