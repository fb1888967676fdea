import { AppError } from '../../src/domain/errors.ts';
import { createEncoder, type Encoder } from '../../src/images/encoder/encoder.ts';

/** Ends with the test process. Starting one for each file would take a quarter of a second of CPU time. */
let running: Encoder | undefined;

/**
 * A real encoder that all tests of this process share. A service that is given it does not close it. It refuses background
 * work: an image that is encoded again would get another ETag at some time.
 */
export function sharedEncoder(): Encoder {
  running ??= createEncoder({ processes: 1 });
  const { encode, ...others } = running;
  return {
    ...others,
    encode: (job, options) =>
      options.priority === 'background'
        ? Promise.reject(new AppError('overloaded', 'No background work here.'))
        : encode(job, options),
    close: async () => undefined,
  };
}
