import { crc32, createInflate } from 'node:zlib';
import type { SourceFormat } from '../domain/formats.ts';
import { isBareJpeg } from './bare-jpeg.ts';

/** The check walks through all of the data: a larger file would take longer than its re-encoded form is worth. */
const MAX_CHECKED_BYTES = 4 * 1024 * 1024;

/**
 * True when a file holds nothing but what a decoder needs to show its picture. Decoders skip everything else, so a file
 * that is sent as it is could carry a page, a script or the place where it was taken.
 *
 * Only two kinds of file can be checked to the last byte at a reasonable price: baseline JPEG (`bare-jpeg.ts`) and PNG in
 * true colour. All others are re-encoded. WebP and AVIF have room inside their compressed data that only
 * a complete decoder could tell from picture data, and AVIF boxes carry names and unreferenced items. GIF is never sent.
 */
export async function isBarePicture(format: SourceFormat, bytes: Buffer): Promise<boolean> {
  if (bytes.length > MAX_CHECKED_BYTES) return false;
  if (format === 'jpeg') return isBareJpeg(bytes);
  return format === 'png' && isBarePng(bytes);
}

/**
 * Whether a PNG in true colour holds its picture and nothing else: one compressed stream of exactly as many rows as the
 * picture has, right checksums, no other chunks than those whose content is known. Palettes are left out: entries that
 * no pixel names could hold anything.
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

/** The chunks from the signature to the end; `undefined` when one is cut, has a wrong checksum, or follows the end. */
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

/** How many bytes the rows have before they are compressed; `undefined` for a kind of picture that is not checked. */
function rowsBytesOf({ type, content }: Chunk): number | undefined {
  if (type !== 'IHDR' || content.length !== 13) return undefined;
  const [depth, colourType = 0, compression, filter, interlace] = content.subarray(8);
  const pixelBytes = PIXEL_BYTES[colourType];
  if (depth !== 8 || pixelBytes === undefined || compression !== 0 || filter !== 0 || interlace !== 0) return undefined;
  return content.readUInt32BE(4) * (1 + content.readUInt32BE(0) * pixelBytes);
}

/** What sRGB pictures say of their colours: gamma 1/2.2, and the white and primaries of sRGB. */
const SRGB_GAMMA = '0000b18f';
const SRGB_CHROMATICITIES = '00007a26000080840000fa00000080e8000075300000ea6000003a9800001770';
const MAX_PIXELS_PER_METRE = 65_535;

/** Chunks that decoders do not need and encoders often write, with the content that they may have. */
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

/** True when the chunks are one whole compressed stream of that many bytes, without anything behind it. */
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
  // What stands behind the stream is not an error to zlib: it just stops reading.
  return inflatedBytes === expectedBytes && inflate.bytesWritten === compressed.length;
}
