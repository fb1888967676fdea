import { crc32, deflateSync } from 'node:zlib';
import sharp from 'sharp';
import type { SourceFormat } from '../../src/domain/formats.ts';

/** A text that no encoder writes, short enough for every place. */
export const SEED = Buffer.from('<Seed#7>');

export interface SeededPicture {
  /** Where the seed is. */
  readonly place: string;
  readonly format: SourceFormat;
  readonly bytes: Buffer;
}

/** Pictures by the place where their seed is. */
type Places = Readonly<Record<string, Buffer>>;

const SIDE = 64;
/** The middle of the range: every coefficient of a JPEG is zero. */
const FLAT = { r: 128, g: 128, b: 128 };
const flat = () => sharp({ create: { width: SIDE, height: SIDE, channels: 3, background: FLAT } });

/** Square pictures that hold the seed in the places where their format can carry bytes without changing the picture. */
export async function seedPictures(): Promise<readonly SeededPicture[]> {
  const places: Readonly<Record<SourceFormat, Places>> = {
    jpeg: await seedJpegs(),
    png: await seedPngs(),
    webp: await seedWebps(),
    avif: await seedAvifs(),
    gif: await seedGifs(),
  };
  return Object.entries(places).flatMap(([format, pictures]) =>
    Object.entries(pictures).map(([place, bytes]) => ({ place, format: format as SourceFormat, bytes })),
  );
}

/** The same pictures without a seed, in the two formats that are checked. */
export async function unseededPictures(): Promise<readonly SeededPicture[]> {
  const jpeg = await flat().jpeg().toBuffer();
  return [
    { place: 'nowhere', format: 'jpeg', bytes: jpeg },
    { place: 'nowhere, with JFIF', format: 'jpeg', bytes: afterStart(jpeg, segment(0xe0, JFIF)) },
    { place: 'nowhere, with Adobe', format: 'jpeg', bytes: afterStart(jpeg, segment(0xee, ADOBE)) },
    { place: 'nowhere, with restarts', format: 'jpeg', bytes: restartingJpeg() },
    { place: 'nowhere', format: 'png', bytes: await flat().png().toBuffer() },
  ];
}

type Part = Buffer | string | readonly number[];

/** Parts one behind the other; a character of a text is one byte. */
function join(...parts: readonly Part[]): Buffer {
  return Buffer.concat(
    parts.map((part) => (typeof part === 'string' ? Buffer.from(part, 'latin1') : Buffer.from(part))),
  );
}

const bigEndian = (value: number, length: 2 | 4) => {
  const written = Buffer.alloc(length);
  written.writeUIntBE(value, 0, length);
  return written;
};

// JPEG

const JFIF = 'JFIF\0\x01\x01\0\0\x01\0\x01\0\0';
const ADOBE = 'Adobe\0\x64\0\0\0\0\x01';

function segment(marker: number, ...parts: readonly Part[]): Buffer {
  const content = join(...parts);
  return join([0xff, marker], bigEndian(2 + content.length, 2), content);
}

const afterStart = (jpeg: Buffer, ...parts: Part[]) => join(jpeg.subarray(0, 2), ...parts, jpeg.subarray(2));
const beforeEnd = (jpeg: Buffer, ...parts: Part[]) => join(jpeg.subarray(0, -2), ...parts, jpeg.subarray(-2));

/** Replaces each segment of a kind by the result of `change`. */
function changeSegments(jpeg: Buffer, kind: number, change: (content: Buffer) => Buffer): Buffer {
  const parts = [jpeg.subarray(0, 2)];
  let at = 2;
  while (jpeg.readUInt8(at + 1) !== 0xda) {
    const end = at + 2 + jpeg.readUInt16BE(at + 2);
    const marker = jpeg.readUInt8(at + 1);
    parts.push(marker === kind ? segment(kind, change(jpeg.subarray(at + 4, end))) : jpeg.subarray(at, end));
    at = end;
  }
  return join(...parts, jpeg.subarray(at));
}

/** A Huffman table with one code of one bit, and one of nine bits for each byte of the seed. */
const SEEDED_CODES = join([1, 0, 0, 0, 0, 0, 0, 0, SEED.length, 0, 0, 0, 0, 0, 0, 0, 0], SEED);
const SEEDED_DIVISORS = join([1], SEED, Buffer.alloc(55, 1));

/**
 * A flat picture with a restart marker after each unit. Both Huffman tables have one code, the bit 0 for "nothing": a unit
 * is twelve zeros and four ones of padding.
 */
function restartingJpeg(insert: Part = ''): Buffer {
  const units = Array.from({ length: (SIDE / 16) ** 2 }, (_, index) =>
    join([0x00, 0x0f], index === 3 ? insert : '', [0xff, 0xd0 + (index % 8)]),
  );
  const oneCode = join([1], Buffer.alloc(16));
  return join(
    [0xff, 0xd8],
    // Every divisor at the lowest quality of libjpeg's scale.
    segment(0xdb, [0], Buffer.alloc(64, 255)),
    segment(0xc0, [8, 0, SIDE, 0, SIDE, 3, 1, 0x22, 0, 2, 0x11, 0, 3, 0x11, 0]),
    segment(0xc4, [0x00], oneCode, [0x10], oneCode),
    segment(0xdd, [0, 1]),
    segment(0xda, [3, 1, 0, 2, 0, 3, 0, 0, 63, 0]),
    join(...units).subarray(0, -2),
    [0xff, 0xd9],
  );
}

async function seedJpegs(): Promise<Places> {
  const jpeg = await flat().jpeg().toBuffer();
  const progressive = await flat().jpeg({ progressive: true }).toBuffer();
  return {
    'an application segment': afterStart(jpeg, segment(0xe5, SEED)),
    Exif: afterStart(jpeg, segment(0xe1, 'Exif\0\0', SEED)),
    'a colour profile': afterStart(jpeg, segment(0xe2, 'ICC_PROFILE\0\x01\x01', SEED)),
    'a comment': afterStart(jpeg, segment(0xfe, SEED)),
    'a second APP0': afterStart(jpeg, segment(0xe0, JFIF), segment(0xe0, SEED)),
    'a JFIF extension': afterStart(jpeg, segment(0xe0, JFIF), segment(0xe0, 'JFXX\0\x10', SEED)),
    'the end of APP0': afterStart(jpeg, segment(0xe0, JFIF, SEED)),
    'a JFIF thumbnail': afterStart(jpeg, segment(0xe0, JFIF.slice(0, -2), [1, 3], SEED, [0])),
    'the end of APP14': afterStart(jpeg, segment(0xee, ADOBE, SEED)),
    'a second APP14': afterStart(jpeg, segment(0xee, ADOBE), segment(0xee, SEED)),
    'a quantisation table that no component uses': afterStart(jpeg, segment(0xdb, [3], SEEDED_DIVISORS)),
    'a quantisation table that is defined again': afterStart(jpeg, segment(0xdb, [0], SEEDED_DIVISORS)),
    'divisors of coefficients that are zero': changeSegments(jpeg, 0xdb, (content) =>
      join(content.subarray(0, 1), SEEDED_DIVISORS),
    ),
    'a Huffman table that no component uses': afterStart(jpeg, segment(0xc4, [0x13], SEEDED_CODES)),
    'Huffman codes that no block uses': changeSegments(jpeg, 0xc4, (content) =>
      content.readUInt8(0) === 0x10 ? join([0x10], SEEDED_CODES) : content,
    ),
    'arithmetic conditioning': afterStart(jpeg, segment(0xcc, SEED)),
    'a reserved segment': afterStart(jpeg, segment(0xf0, SEED)),
    'between segments': afterStart(jpeg, segment(0xe0, JFIF), SEED),
    'the end of the compressed data': beforeEnd(jpeg, SEED),
    'compressed data before a restart': restartingJpeg(SEED),
    'a segment after the compressed data': beforeEnd(jpeg, segment(0xfe, SEED)),
    'a second scan': beforeEnd(jpeg, segment(0xda, [3, 1, 0, 2, 0x11, 3, 0x11, 0, 63, 0]), SEED),
    'after the end': join(jpeg, SEED),
    'a second picture': join(jpeg, afterStart(jpeg, segment(0xfe, SEED))),
    'compressed data of a progressive picture': beforeEnd(progressive, SEED),
  };
}

// PNG

const PNG_HEAD_BYTES = 8 + 25;
const ROWS = Buffer.concat(Array<Buffer>(SIDE).fill(join([0], Buffer.alloc(SIDE * 3, 128))));
const END = chunk('IEND');

function chunk(type: string, ...parts: readonly Part[]): Buffer {
  const content = join(...parts);
  const checked = join(type, content);
  return join(bigEndian(content.length, 4), checked, bigEndian(crc32(checked), 4));
}

async function seedPngs(): Promise<Places> {
  const head = (await flat().png().toBuffer()).subarray(0, PNG_HEAD_BYTES);
  const data = chunk('IDAT', deflateSync(ROWS));
  const indexed = await flat().png({ palette: true }).toBuffer();
  const indexedData = indexed.subarray(indexed.indexOf('IDAT') - 4, -END.length);
  const before = (...chunks: readonly Buffer[]) => join(head, ...chunks, data, END);
  const after = (...parts: readonly Part[]) => join(head, data, ...parts);
  const density = chunk('pHYs', [0, 0, 11, 19, 0, 0, 11, 19, 1]);
  return {
    'a text chunk': before(chunk('tEXt', 'Comment\0', SEED)),
    'a compressed text chunk': before(chunk('zTXt', 'Comment\0', SEED)),
    'a private chunk': before(chunk('prVt', SEED)),
    'a private chunk after the data': after(chunk('prVt', SEED), END),
    Exif: before(chunk('eXIf', SEED)),
    'the time': before(chunk('tIME', SEED.subarray(0, 7))),
    'a suggested palette': before(chunk('PLTE', SEED, [0])),
    'a transparent colour that no pixel has': before(chunk('tRNS', SEED.subarray(0, 6))),
    'a background colour': before(chunk('bKGD', SEED.subarray(0, 6))),
    chromaticities: before(chunk('cHRM', SEED, SEED, SEED, SEED)),
    'the pixel density': before(chunk('pHYs', SEED, [0])),
    'a chunk that is there twice': before(chunk('sRGB', SEED.subarray(0, 1)), chunk('sRGB', SEED)),
    'a checksum': before(join(density.subarray(0, -4), SEED.subarray(0, 4))),
    'an extra IDAT': after(chunk('IDAT', SEED), END),
    'an IDAT after another chunk': after(chunk('sRGB', [0]), chunk('IDAT', SEED), END),
    'behind the compressed stream': join(head, chunk('IDAT', deflateSync(ROWS), SEED), END),
    'more rows than the picture has': join(head, chunk('IDAT', deflateSync(join(ROWS, SEED))), END),
    'the end chunk': after(chunk('IEND', SEED)),
    'after the end': after(END, SEED),
    'palette entries that no pixel uses': join(
      indexed.subarray(0, PNG_HEAD_BYTES),
      chunk('PLTE', [128, 128, 128], Buffer.alloc(757), SEED),
      indexedData,
      END,
    ),
  };
}

// Formats that are always re-encoded

function riff(type: string, ...parts: readonly Part[]): Buffer {
  const content = join(...parts);
  return join(type, bigEndian(content.length, 4).reverse(), content, content.length % 2 === 0 ? '' : [0]);
}

async function seedWebps(): Promise<Places> {
  const lossy = (await flat().webp().toBuffer()).subarray(20);
  const lossless = (await flat().webp({ lossless: true }).toBuffer()).subarray(20);
  return {
    'behind the compressed data': riff('RIFF', 'WEBP', riff('VP8 ', lossy, SEED)),
    'behind the lossless data': riff('RIFF', 'WEBP', riff('VP8L', lossless, SEED)),
    'an unknown chunk': riff('RIFF', 'WEBP', riff('VP8 ', lossy), riff('SEED', SEED)),
    'after the end': join(riff('RIFF', 'WEBP', riff('VP8 ', lossy)), SEED),
  };
}

async function seedAvifs(): Promise<Places> {
  const avif = await flat().avif({ effort: 0 }).toBuffer();
  const mdat = avif.lastIndexOf('mdat');
  const grownMdat = join(bigEndian(avif.length - mdat + 4 + SEED.length, 4), avif.subarray(mdat), SEED);
  return {
    'a free box': join(avif, bigEndian(8 + SEED.length, 4), 'free', SEED),
    'data that no item names': join(avif.subarray(0, mdat - 4), grownMdat),
    'after the end': join(avif, SEED),
  };
}

async function seedGifs(): Promise<Places> {
  const gif = await flat().gif().toBuffer();
  return {
    'a comment': join(gif.subarray(0, -1), [0x21, 0xfe, SEED.length], SEED, [0], gif.subarray(-1)),
    'after the end': join(gif, SEED),
  };
}
