import { afterAll, beforeAll } from 'vitest';
import { AppError } from '../../src/domain/errors.ts';
import { createEncoder, type Encoder, type EncoderOptions } from '../../src/images/encoder/encoder.ts';

/**
 * A real encoder for all tests of the file or `describe`. A service that is given it does not close it. It refuses background
 * work: an image that is encoded again would get another ETag at some time.
 */
export function useEncoder(options: EncoderOptions = {}): Encoder {
  const shared = {} as Encoder;
  let encoder: Encoder | undefined;
  beforeAll(() => {
    const real = createEncoder(options);
    encoder = real;
    Object.assign(shared, real, {
      encode: (...[job, jobOptions]: Parameters<Encoder['encode']>) =>
        jobOptions.priority === 'background'
          ? Promise.reject(new AppError('overloaded', 'No background work here.'))
          : real.encode(job, jobOptions),
      close: async () => undefined,
    } satisfies Partial<Encoder>);
  });
  afterAll(() => encoder?.close());
  return shared;
}
