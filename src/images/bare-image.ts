import { crc32, createInflate } from 'node:zlib';
import type { SourceFormat } from '../domain/formats.ts';
import { isBareJpeg } from './bare-jpeg.ts';

/** The check reads all of the data, which would take too long for larger files. */
const MAX_CHECKED_BYTES = 4 * 1024 * 1024;

/**
 * True if a file contains nothing but what a decoder needs to show the image. Decoders skip everything else, so a file
 * that is sent unchanged could contain a page, a script or the place where it was taken.
 *
 * Only two kinds of file can be checked to the last byte at a reasonable cost: baseline JPEG (`bare-jpeg.ts`) and PNG in
 * true colour. All others are re-encoded. WebP and AVIF have room inside their compressed data that only
 * a complete decoder could tell from image data, and AVIF boxes carry names and unreferenced items. GIF is never sent.
 */
export async function isBareImage(format: SourceFormat, bytes: Buffer): Promise<boolean> {
  if (bytes.length > MAX_CHECKED_BYTES) return false;
  if (format === 'jpeg') return isBareJpeg(bytes);
  return format === 'png' && isBarePng(bytes);
}

/**
 * Whether a PNG in true colour contains its image and nothing else: one compressed stream of exactly the image's rows,
 * correct checksums, and no other chunks than those with known content. Palettes are not accepted, because unused entries
 * could contain anything.
 *
 * PNG specification (W3C, third edition), sections 5, 7 and 11.
 */
async function isBarePng(bytes: Buffer): Promise<boolean> {
  const chunks = readChunks(bytes);
  const [header, ...rest] = chunks ?? [];
  if (header === undefined || rest.pop()?.type !== 'IEND') return false;
  const rowsBytes = rowsBytesOf(header);
  const firstData = rest.findIndex(({ type }) => type === 'IDAT');
  if (rowsBytes === undefined || firstData === -1) return false;
  const ancillary = rest.slice(0, firstData);
  const data = rest.slice(firstData);
  const isOnce = new Set(ancillary.map(({ type }) => type)).size === ancillary.length;
  const isKnown = isOnce && ancillary.every(({ type, content }) => KNOWN_CHUNKS[type]?.(content) ?? false);
  return isKnown && data.every(({ type }) => type === 'IDAT') && inflatesTo(data, rowsBytes);
}

interface Chunk {
  readonly type: string;
  readonly content: Buffer;
}

const SIGNATURE_BYTES = 8;
/** Length, type and checksum. */
const FRAME_BYTES = 12;

/** All chunks after the signature; `undefined` if a chunk is incomplete, has a wrong checksum, or follows the end. */
function readChunks(bytes: Buffer): readonly Chunk[] | undefined {
  const chunks: Chunk[] = [];
  let at = SIGNATURE_BYTES;
  while (at + FRAME_BYTES <= bytes.length) {
    const end = at + FRAME_BYTES + bytes.readUInt32BE(at);
    if (end > bytes.length || crc32(bytes.subarray(at + 4, end - 4)) !== bytes.readUInt32BE(end - 4)) return undefined;
    const type = bytes.toString('latin1', at + 4, at + 8);
    chunks.push({ type, content: bytes.subarray(at + 8, end - 4) });
    at = end;
    if (type === 'IEND') break;
  }
  const isEmptyEnd = chunks.at(-1)?.content.length === 0;
  return isEmptyEnd && at === bytes.length ? chunks : undefined;
}

/** Bytes of a pixel by colour type: true colour, without and with transparency. */
const PIXEL_BYTES: Readonly<Record<number, number>> = { 2: 3, 6: 4 };

/** The size of the uncompressed rows; `undefined` for a kind of image that is not checked. */
function rowsBytesOf({ type, content }: Chunk): number | undefined {
  if (type !== 'IHDR' || content.length !== 13) return undefined;
  const [depth, colourType = 0, compression, filter, interlace] = content.subarray(8);
  const pixelBytes = PIXEL_BYTES[colourType];
  if (depth !== 8 || pixelBytes === undefined || compression !== 0 || filter !== 0 || interlace !== 0) return undefined;
  return content.readUInt32BE(4) * (1 + content.readUInt32BE(0) * pixelBytes);
}

/** The colours of sRGB: gamma 1/2.2, white point and primaries. */
const SRGB_GAMMA = '0000b18f';
const SRGB_CHROMATICITIES = '00007a26000080840000fa00000080e8000075300000ea6000003a9800001770';
const MAX_PIXELS_PER_METRE = 65_535;

/** Optional chunks that encoders often write, and the content that is accepted. */
const KNOWN_CHUNKS: Readonly<Record<string, (content: Buffer) => boolean>> = {
  sRGB: (content) => content.length === 1 && content.readUInt8(0) <= 3,
  gAMA: (content) => content.toString('hex') === SRGB_GAMMA,
  cHRM: (content) => content.toString('hex') === SRGB_CHROMATICITIES,
  sBIT: (content) => content.length <= 4 && content.every((bits) => bits === 8),
  pHYs(content) {
    if (content.length !== 9 || content.readUInt8(8) > 1) return false;
    const across = content.readUInt32BE(0);
    return across === content.readUInt32BE(4) && across <= MAX_PIXELS_PER_METRE;
  },
};

/** True if the chunks are one complete compressed stream of this many bytes, with nothing after it. */
async function inflatesTo(data: readonly Chunk[], expectedBytes: number): Promise<boolean> {
  const compressed = Buffer.concat(data.map(({ content }) => content));
  const inflate = createInflate({ chunkSize: 65_536 });
  inflate.end(compressed);
  let inflatedBytes = 0;
  try {
    for await (const part of inflate as AsyncIterable<Buffer>) {
      inflatedBytes += part.length;
      if (inflatedBytes > expectedBytes) return false;
    }
  } catch {
    return false;
  }
  // zlib ignores data after the stream.
  return inflatedBytes === expectedBytes && inflate.bytesWritten === compressed.length;
}
