import sharp from 'sharp';
import type { Format } from '../../src/domain/formats.ts';
import { type Encoder, readLibraryVersion } from '../../src/images/encoder/encoder.ts';
import type { ImageInfo } from '../../src/images/encoder/job.ts';

const drawn = sharp({ create: { width: 1, height: 1, channels: 3, background: 'red' } });
const PIXELS = new Map<Format, Promise<Buffer>>();

/** One red pixel. */
function pixelIn(format: Format): Promise<Buffer> {
  const pixel = PIXELS.get(format) ?? drawn.clone().toFormat(format).toBuffer();
  PIXELS.set(format, pixel);
  return pixel;
}

/** The real one, so that a real encoder's service can use the images that this one has stored. */
const LIBRARY_VERSION = readLibraryVersion();

/** The default metadata of an original. */
const INFO: ImageInfo = { width: 2560, height: 1440, hasTransparency: false };

/**
 * Replaces the encoder processes in tests that are not about pixels: every original is a large JPEG that must be
 * encoded, and every encoded image is one pixel in the requested format.
 */
export function createFakeEncoder({
  info,
  ...methods
}: Partial<Encoder> & { info?: Partial<ImageInfo> } = {}): Encoder {
  return {
    libraryVersion: LIBRARY_VERSION,
    inspect: async () => ({ ...INFO, ...info }),
    encode: ({ format }) => pixelIn(format),
    stats: () => ({
      queued: 0,
      running: 0,
      processes: 0,
      restarts: 0,
      refused: 0,
    }),
    warmUp: () => undefined,
    close: async () => undefined,
    ...methods,
  };
}
