import { afterAll, beforeAll } from 'vitest';
import { createEncoder, type Encoder, type EncoderOptions } from '../../src/images/encoder/encoder.ts';

/** A real encoder for all tests of the file or `describe`. A service that is given it does not close it. */
export function useEncoder(options: EncoderOptions = {}): Encoder {
  const shared = {} as Encoder;
  let encoder: Encoder | undefined;
  beforeAll(() => {
    encoder = createEncoder(options);
    Object.assign(shared, encoder, { close: async () => undefined });
  });
  afterAll(() => encoder?.close());
  return shared;
}
