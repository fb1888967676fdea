import { sniffFormat } from '../domain/formats.ts';

/*
 * The parts of an original that make work, counted without decoding it. Nothing here is validated: decoders read the same
 * bytes again.
 */

const START_OF_SCAN = 0xda;
const END_OF_IMAGE = 0xd9;

/** The markers of the segments of a JPEG (ITU T.81 B.1.1), also those between its scans. */
function* jpegSegments(bytes: Buffer): Generator<number> {
  let at = bytes.indexOf(0xff, 2);
  while (at !== -1 && at + 3 < bytes.length) {
    const marker = bytes[at + 1] as number;
    at += marker === 0xff ? 1 : 2;
    if (marker === END_OF_IMAGE) return;
    // Fill bytes, data of a scan, restarts, and what is reserved have no length.
    if (marker >= 0xc0 && marker !== 0xff && !(marker >= 0xd0 && marker <= 0xd8)) {
      yield marker;
      at += bytes.readUInt16BE(at);
    }
    at = bytes.indexOf(0xff, at);
  }
}

/** The largest number of parts that an original may have. */
interface PartLimit {
  readonly what: string;
  readonly most: number;
}

/** Encoders write at most 20. Each may visit all pixels again for a few bytes: 5,000 took a minute. */
const JPEG_SCANS: PartLimit = { what: 'scans', most: 100 };
/** The library looks for each of them from the start of the file: 60,000 took ten seconds, 10,000 take a quarter of one. */
const WEBP_FRAMES: PartLimit = { what: 'frames', most: 10_000 };

/** The limit of parts that an original exceeds, if it does. Takes time in proportion to the bytes. */
export function findExceededParts(bytes: Buffer): PartLimit | undefined {
  const format = sniffFormat(bytes);
  if (format === 'jpeg' && hasMore(jpegScans(bytes), JPEG_SCANS.most)) return JPEG_SCANS;
  if (format === 'webp' && hasMore(webpFrames(bytes), WEBP_FRAMES.most)) return WEBP_FRAMES;
  return undefined;
}

function jpegScans(bytes: Buffer): IteratorObject<number> {
  return jpegSegments(bytes).filter((marker) => marker === START_OF_SCAN);
}

const ANMF = Buffer.from('ANMF').readUInt32LE();

/** RFC 9649 section 2.7: chunks of an even length after the header of 12 bytes. */
function* webpFrames(bytes: Buffer): Generator<void> {
  for (let at = 12; at + 8 <= bytes.length; ) {
    if (bytes.readUInt32LE(at) === ANMF) yield;
    const length = bytes.readUInt32LE(at + 4);
    at += 8 + length + (length % 2);
  }
}

function hasMore(parts: IteratorObject<unknown>, most: number): boolean {
  return parts.drop(most).next().done === false;
}
