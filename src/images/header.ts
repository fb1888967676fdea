import { sniffFormat } from '../domain/formats.ts';
import { MAX_ORIGINAL_PIXELS } from './encoder/job.ts';

/*
 * What the bytes of an original say about the work that it makes, without decoding it. Nothing here is validated: decoders
 * read the same bytes again.
 */

/** A header has a few dozen markers. Those of a hostile file are not all read. */
const MAX_HEADER_MARKERS = 1_000;
/** The properties of an AVIF come before its pixels. */
const MAX_AVIF_HEADER_BYTES = 64 * 1024;

/**
 * Width times height in the header, at most `MAX_ORIGINAL_PIXELS`. If the header cannot be read, the image may have that many.
 * Takes less than a millisecond, whatever the bytes are.
 */
export function readStatedPixels(bytes: Buffer): number {
  return Math.min(findStatedPixels(bytes) ?? MAX_ORIGINAL_PIXELS, MAX_ORIGINAL_PIXELS);
}

/** `undefined` if the header cannot be read. */
function findStatedPixels(bytes: Buffer): number | undefined {
  try {
    const [width, height] = readStatedSize(bytes) ?? [];
    return width === undefined || height === undefined ? undefined : width * height;
  } catch (error) {
    // The header is cut.
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

type StatedSize = readonly [width: number, height: number];

function readStatedSize(bytes: Buffer): StatedSize | undefined {
  switch (sniffFormat(bytes)) {
    case 'png':
      return [bytes.readUInt32BE(16), bytes.readUInt32BE(20)];
    case 'gif':
      return [bytes.readUInt16LE(6), bytes.readUInt16LE(8)];
    case 'jpeg':
      return readJpegSize(bytes);
    case 'webp':
      return readWebpSize(bytes);
    case 'avif':
      return readAvifSize(bytes.subarray(0, MAX_AVIF_HEADER_BYTES));
    default:
      return undefined;
  }
}

/** ITU T.81 B.2.2: the frame header SOF. C4, C8 and CC in its range are other markers. */
function readJpegSize(bytes: Buffer): StatedSize | undefined {
  for (const { marker, at } of jpegSegments(bytes, MAX_HEADER_MARKERS)) {
    const isFrame = marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker);
    if (isFrame) return [bytes.readUInt16BE(at + 5), bytes.readUInt16BE(at + 3)];
  }
  return undefined;
}

/** RFC 9649 sections 2.5 to 2.7. */
function readWebpSize(bytes: Buffer): StatedSize | undefined {
  const chunk = bytes.toString('latin1', 12, 16);
  if (chunk === 'VP8X') return [1 + bytes.readUIntLE(24, 3), 1 + bytes.readUIntLE(27, 3)];
  if (chunk === 'VP8 ') return [bytes.readUInt16LE(26) & 0x3fff, bytes.readUInt16LE(28) & 0x3fff];
  if (chunk !== 'VP8L') return undefined;
  const bits = bytes.readUInt32LE(21);
  return [1 + (bits & 0x3fff), 1 + ((bits >>> 14) & 0x3fff)];
}

/** The largest `ispe` (ISO/IEC 23008-12 6.5.3): an image may consist of tiles, and have a thumbnail. */
function readAvifSize(head: Buffer): StatedSize | undefined {
  let largest: StatedSize | undefined;
  for (let at = head.indexOf('ispe'); at !== -1; at = head.indexOf('ispe', at + 4)) {
    const [width, height] = [head.readUInt32BE(at + 8), head.readUInt32BE(at + 12)];
    if (largest === undefined || width * height > largest[0] * largest[1]) largest = [width, height];
  }
  return largest;
}

const START_OF_SCAN = 0xda;
const END_OF_IMAGE = 0xd9;

interface JpegSegment {
  readonly marker: number;
  /** Where its length is. */
  readonly at: number;
}

/**
 * The marker segments of a JPEG (ITU T.81 B.1.1), also those between its scans.
 *
 * @param maxMarkers how many markers are read, whether they begin a segment or not
 */
function* jpegSegments(bytes: Buffer, maxMarkers = Number.POSITIVE_INFINITY): Generator<JpegSegment> {
  let at = bytes.indexOf(0xff, 2);
  for (let markers = 0; markers < maxMarkers && at !== -1 && at + 3 < bytes.length; markers += 1) {
    const marker = bytes[at + 1] as number;
    at += marker === 0xff ? 1 : 2;
    if (marker === END_OF_IMAGE) return;
    // Fill bytes, data of a scan, restarts, and what is reserved have no length.
    if (marker >= 0xc0 && marker !== 0xff && !(marker >= 0xd0 && marker <= 0xd8)) {
      yield { marker, at };
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

function jpegScans(bytes: Buffer): IteratorObject<JpegSegment> {
  return jpegSegments(bytes).filter(({ marker }) => marker === START_OF_SCAN);
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
