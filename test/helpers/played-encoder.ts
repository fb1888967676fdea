import sharp from 'sharp';
import type { Format } from '../../src/domain/formats.ts';
import type { Encoder } from '../../src/images/encoder/encoder.ts';

const drawn = sharp({ create: { width: 1, height: 1, channels: 3, background: 'red' } });
const PIXELS = new Map<Format, Promise<Buffer>>();

/** One red pixel, in any format. */
function pixelIn(format: Format): Promise<Buffer> {
  const made = PIXELS.get(format) ?? drawn.clone().toFormat(format).toBuffer();
  PIXELS.set(format, made);
  return made;
}

/**
 * In place of the encoder processes, where the pixels are not what is tested: every original is a large JPEG, every
 * picture of it a single pixel, in the format that is asked for.
 */
export const playedEncoder: Encoder = {
  inspect: async () => ({ width: 2560, height: 1440, format: 'jpeg', hasAlpha: false, isWebReady: false }),
  encode: ({ format }) => pixelIn(format),
  refine: async () => undefined,
  stats: () => ({ queued: 0, running: 0, processes: 0, restarts: 0, refused: 0 }),
  warmUp: () => undefined,
  async close() {},
};
