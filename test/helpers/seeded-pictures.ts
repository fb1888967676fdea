import { crc32, deflateSync } from 'node:zlib';
import sharp, { type Sharp } from 'sharp';
import type { SourceFormat } from '../../src/domain/formats.ts';

/** A text that no encoder writes by accident, short enough for every place. */
export const SEED = Buffer.from('<Seed#7>');

export interface SeededPicture {
  /** Where the seed is. */
  readonly place: string;
  readonly format: SourceFormat;
  readonly bytes: Buffer;
}

const SIDE = 64;
/** The middle of the range: every coefficient of a JPEG is zero. */
const FLAT = { r: 128, g: 128, b: 128 };

function flat(): Sharp {
  return sharp({ create: { width: SIDE, height: SIDE, channels: 3, background: FLAT } });
}

/** Square pictures that hold the seed in the places where their format can carry bytes without changing the picture. */
export async function seedPictures(): Promise<readonly SeededPicture[]> {
  return [
    ...(await seedJpegs()),
    ...(await seedPngs()),
    ...(await seedWebps()),
    ...(await seedAvifs()),
    ...(await seedGifs()),
  ];
}

/** The same pictures without a seed, in the two formats that are checked. */
export async function unseededPictures(): Promise<readonly SeededPicture[]> {
  const jpeg = await flat().jpeg().toBuffer();
  return [
    { place: 'nowhere', format: 'jpeg', bytes: jpeg },
    { place: 'nowhere, with JFIF', format: 'jpeg', bytes: afterStart(jpeg, JFIF) },
    { place: 'nowhere, with Adobe', format: 'jpeg', bytes: afterStart(jpeg, ADOBE) },
    { place: 'nowhere, with restarts', format: 'jpeg', bytes: restartingJpeg() },
    { place: 'nowhere', format: 'png', bytes: await flat().png().toBuffer() },
  ];
}

// JPEG

const JFIF = segment(0xe0, Buffer.from('JFIF\0\x01\x01\0\0\x01\0\x01\0\0', 'latin1'));
const ADOBE = segment(0xee, Buffer.from('Adobe\0\x64\0\0\0\0\x01', 'latin1'));

function segment(marker: number, content: Buffer): Buffer {
  const head = Buffer.from([0xff, marker, 0, 0]);
  head.writeUInt16BE(2 + content.length, 2);
  return Buffer.concat([head, content]);
}

function afterStart(jpeg: Buffer, ...parts: Buffer[]): Buffer {
  return Buffer.concat([jpeg.subarray(0, 2), ...parts, jpeg.subarray(2)]);
}

function beforeEnd(jpeg: Buffer, ...parts: Buffer[]): Buffer {
  return Buffer.concat([jpeg.subarray(0, -2), ...parts, jpeg.subarray(-2)]);
}

/** Each segment of a kind is given to `change`; what that gives back takes its place. */
function changeSegments(jpeg: Buffer, kind: number, change: (content: Buffer) => Buffer): Buffer {
  const parts = [jpeg.subarray(0, 2)];
  let at = 2;
  while (jpeg.readUInt8(at + 1) !== 0xda) {
    const end = at + 2 + jpeg.readUInt16BE(at + 2);
    const marker = jpeg.readUInt8(at + 1);
    parts.push(marker === kind ? segment(kind, change(jpeg.subarray(at + 4, end))) : jpeg.subarray(at, end));
    at = end;
  }
  return Buffer.concat([...parts, jpeg.subarray(at)]);
}

/** A Huffman table with one code of one bit, and one of nine bits for each byte of the seed. */
const SEEDED_CODES = Buffer.concat([Buffer.from([1, 0, 0, 0, 0, 0, 0, 0, SEED.length, 0, 0, 0, 0, 0, 0, 0, 0]), SEED]);

/**
 * A flat picture with a restart marker after each unit. Both Huffman tables have one code, the bit 0 for "nothing": a unit
 * is twelve zeros and four ones of padding.
 */
function restartingJpeg(insert = Buffer.alloc(0)): Buffer {
  const units = Array.from({ length: (SIDE / 16) ** 2 }, (_, index) =>
    Buffer.concat([
      Buffer.from([0x00, 0x0f]),
      index === 3 ? insert : Buffer.alloc(0),
      Buffer.from([0xff, 0xd0 + (index % 8)]),
    ]),
  );
  const oneCode = Buffer.from([1, ...Array<number>(15).fill(0), 0]);
  return Buffer.concat([
    Buffer.from([0xff, 0xd8]),
    // Every divisor at the lowest quality of libjpeg's scale.
    segment(0xdb, Buffer.from([0, ...Array<number>(64).fill(255)])),
    segment(0xc0, Buffer.from([8, 0, SIDE, 0, SIDE, 3, 1, 0x22, 0, 2, 0x11, 0, 3, 0x11, 0])),
    segment(0xc4, Buffer.concat([Buffer.from([0x00]), oneCode, Buffer.from([0x10]), oneCode])),
    segment(0xdd, Buffer.from([0, 1])),
    segment(0xda, Buffer.from([3, 1, 0, 2, 0, 3, 0, 0, 63, 0])),
    Buffer.concat(units).subarray(0, -2),
    Buffer.from([0xff, 0xd9]),
  ]);
}

async function seedJpegs(): Promise<SeededPicture[]> {
  const jpeg = await flat().jpeg().toBuffer();
  const progressive = await flat().jpeg({ progressive: true }).toBuffer();
  const seededDivisors = Buffer.concat([Buffer.alloc(1, 1), SEED, Buffer.alloc(64, 1)]).subarray(0, 64);
  const places: Record<string, Buffer> = {
    'an application segment': afterStart(jpeg, segment(0xe5, SEED)),
    Exif: afterStart(jpeg, segment(0xe1, Buffer.concat([Buffer.from('Exif\0\0'), SEED]))),
    'a colour profile': afterStart(jpeg, segment(0xe2, Buffer.concat([Buffer.from('ICC_PROFILE\0\x01\x01'), SEED]))),
    'a comment': afterStart(jpeg, segment(0xfe, SEED)),
    'a second APP0': afterStart(jpeg, JFIF, segment(0xe0, SEED)),
    'a JFIF extension': afterStart(jpeg, JFIF, segment(0xe0, Buffer.concat([Buffer.from('JFXX\0\x10'), SEED]))),
    'the end of APP0': afterStart(jpeg, segment(0xe0, Buffer.concat([JFIF.subarray(4), SEED]))),
    'a JFIF thumbnail': afterStart(
      jpeg,
      segment(0xe0, Buffer.concat([JFIF.subarray(4, -2), Buffer.from([1, 3]), SEED, Buffer.alloc(1)])),
    ),
    'the end of APP14': afterStart(jpeg, segment(0xee, Buffer.concat([ADOBE.subarray(4), SEED]))),
    'a second APP14': afterStart(jpeg, ADOBE, segment(0xee, SEED)),
    'a quantisation table that no component uses': afterStart(
      jpeg,
      segment(0xdb, Buffer.concat([Buffer.from([3]), seededDivisors])),
    ),
    'a quantisation table that is defined again': afterStart(
      jpeg,
      segment(0xdb, Buffer.concat([Buffer.from([0]), seededDivisors])),
    ),
    'divisors of coefficients that are zero': changeSegments(jpeg, 0xdb, (content) =>
      Buffer.concat([content.subarray(0, 1), seededDivisors]),
    ),
    'a Huffman table that no component uses': afterStart(
      jpeg,
      segment(0xc4, Buffer.concat([Buffer.from([0x13]), SEEDED_CODES])),
    ),
    'Huffman codes that no block uses': changeSegments(jpeg, 0xc4, (content) =>
      content.readUInt8(0) === 0x10 ? Buffer.concat([Buffer.from([0x10]), SEEDED_CODES]) : content,
    ),
    'arithmetic conditioning': afterStart(jpeg, segment(0xcc, SEED)),
    'a reserved segment': afterStart(jpeg, segment(0xf0, SEED)),
    'between segments': afterStart(jpeg, JFIF, SEED),
    'the end of the compressed data': beforeEnd(jpeg, SEED),
    'compressed data before a restart': restartingJpeg(SEED),
    'a segment after the compressed data': beforeEnd(jpeg, segment(0xfe, SEED)),
    'a second scan': beforeEnd(jpeg, segment(0xda, Buffer.from([3, 1, 0, 2, 0x11, 3, 0x11, 0, 63, 0])), SEED),
    'after the end': Buffer.concat([jpeg, SEED]),
    'a second picture': Buffer.concat([jpeg, afterStart(jpeg, segment(0xfe, SEED))]),
    'compressed data of a progressive picture': beforeEnd(progressive, SEED),
  };
  return picturesOf('jpeg', places);
}

// PNG

function chunk(type: string, content: Buffer): Buffer {
  const framed = Buffer.alloc(12 + content.length);
  framed.writeUInt32BE(content.length);
  framed.write(type, 4, 'latin1');
  content.copy(framed, 8);
  framed.writeUInt32BE(crc32(framed.subarray(4, -4)), framed.length - 4);
  return framed;
}

const PNG_HEAD_BYTES = 8 + 25;
const PNG_END_BYTES = 12;

interface PngParts {
  /** Before the data. */
  readonly before?: readonly Buffer[];
  readonly rows?: Buffer;
  /** Behind the compressed stream, in its chunk. */
  readonly tail?: Buffer;
  /** After the data. */
  readonly after?: readonly Buffer[];
  readonly end?: Buffer;
}

function png(
  head: Buffer,
  { before = [], rows = ROWS, tail = Buffer.alloc(0), after = [], end = END }: PngParts,
): Buffer {
  const data = chunk('IDAT', Buffer.concat([deflateSync(rows), tail]));
  return Buffer.concat([head, ...before, data, ...after, end]);
}

const ROWS = Buffer.concat(Array<Buffer>(SIDE).fill(Buffer.concat([Buffer.from([0]), Buffer.alloc(SIDE * 3, 128)])));
const END = chunk('IEND', Buffer.alloc(0));

async function seedPngs(): Promise<SeededPicture[]> {
  const whole = await flat().png().toBuffer();
  const head = whole.subarray(0, PNG_HEAD_BYTES);
  const indexed = await flat().png({ palette: true }).toBuffer();
  const text = Buffer.concat([Buffer.from('Comment\0'), SEED]);
  const suggestedPalette = Buffer.concat([SEED, Buffer.alloc(1)]);
  const transparentColour = SEED.subarray(0, 6);
  const chromaticities = Buffer.concat([SEED, SEED, SEED, SEED]);
  const wrongChecksum = chunk('pHYs', Buffer.from([0, 0, 11, 19, 0, 0, 11, 19, 1]));
  SEED.copy(wrongChecksum, wrongChecksum.length - 4, 0, 4);
  const places: Record<string, Buffer> = {
    'a text chunk': png(head, { before: [chunk('tEXt', text)] }),
    'a compressed text chunk': png(head, { before: [chunk('zTXt', text)] }),
    'a private chunk': png(head, { before: [chunk('prVt', SEED)] }),
    'a private chunk after the data': png(head, { after: [chunk('prVt', SEED)] }),
    Exif: png(head, { before: [chunk('eXIf', SEED)] }),
    'the time': png(head, { before: [chunk('tIME', SEED.subarray(0, 7))] }),
    'a suggested palette': png(head, { before: [chunk('PLTE', suggestedPalette)] }),
    'a transparent colour that no pixel has': png(head, { before: [chunk('tRNS', transparentColour)] }),
    'a background colour': png(head, { before: [chunk('bKGD', transparentColour)] }),
    chromaticities: png(head, { before: [chunk('cHRM', chromaticities)] }),
    'the pixel density': png(head, { before: [chunk('pHYs', Buffer.concat([SEED, Buffer.alloc(1)]))] }),
    'a chunk that is there twice': png(head, { before: [chunk('sRGB', SEED.subarray(0, 1)), chunk('sRGB', SEED)] }),
    'a checksum': png(head, { before: [wrongChecksum] }),
    'an extra IDAT': png(head, { after: [chunk('IDAT', SEED)] }),
    'an IDAT after another chunk': png(head, { after: [chunk('sRGB', Buffer.alloc(1)), chunk('IDAT', SEED)] }),
    'behind the compressed stream': png(head, { tail: SEED }),
    'more rows than the picture has': png(head, { rows: Buffer.concat([ROWS, SEED]) }),
    'the end chunk': png(head, { end: chunk('IEND', SEED) }),
    'after the end': png(head, { after: [END], end: SEED }),
    'palette entries that no pixel uses': Buffer.concat([
      indexed.subarray(0, PNG_HEAD_BYTES),
      chunk('PLTE', Buffer.concat([Buffer.from([128, 128, 128]), Buffer.alloc(760), SEED]).subarray(-768)),
      indexed.subarray(indexed.indexOf('IDAT') - 4, -PNG_END_BYTES),
      END,
    ]),
  };
  return picturesOf('png', places);
}

// Formats that are always re-encoded

function riffChunk(type: string, content: Buffer): Buffer {
  const framed = Buffer.alloc(8 + content.length + (content.length % 2));
  framed.write(type, 0, 'latin1');
  framed.writeUInt32LE(content.length, 4);
  content.copy(framed, 8);
  return framed;
}

function webp(...chunks: readonly Buffer[]): Buffer {
  return riffChunk('RIFF', Buffer.concat([Buffer.from('WEBP'), ...chunks]));
}

async function seedWebps(): Promise<SeededPicture[]> {
  const lossy = (await flat().webp().toBuffer()).subarray(20);
  const lossless = (await flat().webp({ lossless: true }).toBuffer()).subarray(20);
  return picturesOf('webp', {
    'behind the compressed data': webp(riffChunk('VP8 ', Buffer.concat([lossy, SEED]))),
    'behind the lossless data': webp(riffChunk('VP8L', Buffer.concat([lossless, SEED]))),
    'an unknown chunk': webp(riffChunk('VP8 ', lossy), riffChunk('SEED', SEED)),
    'after the end': Buffer.concat([webp(riffChunk('VP8 ', lossy)), SEED]),
  });
}

function box(type: string, content: Buffer): Buffer {
  const framed = Buffer.alloc(8 + content.length);
  framed.writeUInt32BE(framed.length);
  framed.write(type, 4, 'latin1');
  content.copy(framed, 8);
  return framed;
}

async function seedAvifs(): Promise<SeededPicture[]> {
  const avif = await flat().avif({ effort: 0 }).toBuffer();
  const mdat = avif.lastIndexOf('mdat') - 4;
  return picturesOf('avif', {
    'a free box': Buffer.concat([avif, box('free', SEED)]),
    'data that no item names': Buffer.concat([
      avif.subarray(0, mdat),
      box('mdat', Buffer.concat([avif.subarray(mdat + 8), SEED])),
    ]),
    'after the end': Buffer.concat([avif, SEED]),
  });
}

async function seedGifs(): Promise<SeededPicture[]> {
  const gif = await flat().gif().toBuffer();
  const comment = Buffer.concat([Buffer.from([0x21, 0xfe, SEED.length]), SEED, Buffer.alloc(1)]);
  return picturesOf('gif', {
    'a comment': Buffer.concat([gif.subarray(0, -1), comment, gif.subarray(-1)]),
    'after the end': Buffer.concat([gif, SEED]),
  });
}

function picturesOf(format: SourceFormat, places: Readonly<Record<string, Buffer>>): SeededPicture[] {
  return Object.entries(places).map(([place, bytes]) => ({ place, format, bytes }));
}
