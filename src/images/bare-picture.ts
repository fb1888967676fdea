import type { SourceFormat } from '../domain/formats.ts';

/**
 * Whether a file holds its picture and nothing else: no text, no private parts, no bytes behind the end. Decoders skip
 * all of these, so a file that goes out as it is could carry a page, a script or where it was taken.
 *
 * Structure by the PNG specification (W3C, third edition) section 5, ITU-T T.81 annex B, the WebP container
 * specification (RFC 9649) and ISO/IEC 14496-12 section 4.2.
 */
export function isBarePicture(format: SourceFormat, bytes: Buffer): boolean {
  return READERS[format]?.(bytes) ?? false;
}

const READERS: Partial<Record<SourceFormat, (bytes: Buffer) => boolean>> = {
  png: isBarePng,
  jpeg: isBareJpeg,
  webp: isBareWebp,
  avif: isBareAvif,
};

const PNG_SIGNATURE_BYTES = 8;
/** Length, type and checksum. */
const PNG_FRAME_BYTES = 12;
const PNG_CHUNKS: ReadonlySet<string> = new Set(
  ['IHDR', 'PLTE', 'tRNS', 'IDAT', 'IEND'].concat(['gAMA', 'cHRM', 'sRGB', 'sBIT', 'bKGD', 'pHYs']),
);

function isBarePng(bytes: Buffer): boolean {
  let at = PNG_SIGNATURE_BYTES;
  while (at + PNG_FRAME_BYTES <= bytes.length) {
    const type = bytes.toString('latin1', at + 4, at + 8);
    if (!PNG_CHUNKS.has(type)) return false;
    at += PNG_FRAME_BYTES + bytes.readUInt32BE(at);
    if (type === 'IEND') return at === bytes.length;
  }
  return false;
}

const JPEG_START_OF_SCAN = 0xda;
const JPEG_END = 0xd9;
/** JFIF, tables, frames, scans, and Adobe's word on how colours are stored. */
const JPEG_SEGMENTS: ReadonlySet<number> = new Set([
  0xe0,
  0xdb,
  0xc4,
  0xc0,
  0xc1,
  0xc2,
  0xdd,
  JPEG_START_OF_SCAN,
  0xee,
]);

function isBareJpeg(bytes: Buffer): boolean {
  let at = 2;
  while (at + 2 <= bytes.length && bytes.readUInt8(at) === 0xff) {
    const marker = bytes.readUInt8(at + 1);
    if (marker === JPEG_END) return at + 2 === bytes.length;
    if (!JPEG_SEGMENTS.has(marker) || at + 4 > bytes.length) return false;
    at += 2 + bytes.readUInt16BE(at + 2);
    if (marker === JPEG_START_OF_SCAN) at = findScanEnd(bytes, at);
  }
  return false;
}

/** Inside a scan, 0xff stands before a zero, a restart marker or another 0xff; before anything else the scan is over. */
function findScanEnd(bytes: Buffer, from: number): number {
  for (let at = bytes.indexOf(0xff, from); at !== -1 && at + 1 < bytes.length; at = bytes.indexOf(0xff, at)) {
    const next = bytes.readUInt8(at + 1);
    const isRestart = next >= 0xd0 && next <= 0xd7;
    if (next === 0xff) at += 1;
    else if (next === 0 || isRestart) at += 2;
    else return at;
  }
  return bytes.length;
}

const RIFF_HEADER_BYTES = 8;
const WEBP_CHUNKS: ReadonlySet<string> = new Set(['VP8 ', 'VP8L', 'VP8X', 'ALPH']);

function isBareWebp(bytes: Buffer): boolean {
  let at = RIFF_HEADER_BYTES + 4;
  if (bytes.length < at || bytes.readUInt32LE(4) + RIFF_HEADER_BYTES !== bytes.length) return false;
  while (at + 8 <= bytes.length) {
    if (!WEBP_CHUNKS.has(bytes.toString('latin1', at, at + 4))) return false;
    const size = bytes.readUInt32LE(at + 4);
    at += 8 + size + (size % 2);
  }
  return at === bytes.length;
}

const AVIF_BOXES = ['ftyp', 'meta', 'mdat'];
const BOX_HEADER_BYTES = 8;

/** The boxes that a still picture needs, once each; other orders and forms of a length count as something else. */
function isBareAvif(bytes: Buffer): boolean {
  const types: string[] = [];
  let at = 0;
  while (at + BOX_HEADER_BYTES <= bytes.length && types.length < AVIF_BOXES.length) {
    const size = bytes.readUInt32BE(at);
    if (size < BOX_HEADER_BYTES) return false;
    types.push(bytes.toString('latin1', at + 4, at + 8));
    at += size;
  }
  return at === bytes.length && types.join() === AVIF_BOXES.join();
}
