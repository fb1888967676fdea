import sharp from 'sharp';
import type { Size } from '../../src/domain/variants.ts';

/**
 * A grey progressive JPEG of so many scans. Every scan but the first says in a few bytes that it changes no block, and a
 * decoder visits each block to do so.
 */
export function jpegOfScans({ width, height }: Size, scans: number): Buffer {
  const blocks = Math.ceil(width / 8) * Math.ceil(height / 8);
  const header = [
    segmentOf(0xdb, [0, ...new Array<number>(64).fill(1)]),
    segmentOf(0xc2, [8, height >> 8, height & 0xff, width >> 8, width & 0xff, 1, 1, 0x11, 0]),
    // One code of one bit in each table: "no difference", and a run of at least 2^14 blocks without a coefficient.
    segmentOf(0xc4, [0x00, 1, ...new Array<number>(15).fill(0), 0x00]),
    segmentOf(0xc4, [0x10, 1, ...new Array<number>(15).fill(0), 0xe0]),
  ];
  const first = Buffer.concat([scanOf(0, 0), Buffer.alloc(Math.ceil(blocks / 8))]);
  const other = Buffer.concat([scanOf(1, 63), runsOf(blocks)]);
  const start = Buffer.from([0xff, 0xd8]);
  const end = Buffer.from([0xff, 0xd9]);
  return Buffer.concat([start, ...header, first, ...new Array<Buffer>(scans - 1).fill(other), end]);
}

function segmentOf(marker: number, content: readonly number[]): Buffer {
  const length = content.length + 2;
  return Buffer.from([0xff, marker, length >> 8, length & 0xff, ...content]);
}

/** The header of a scan of the coefficients from the first to the last one. */
function scanOf(first: number, last: number): Buffer {
  return segmentOf(0xda, [1, 1, 0, first, last, 0]);
}

const SHORTEST_RUN = 2 ** 14;
const LONGEST_RUN = 2 ** 15 - 1;

function runsOf(blocks: number): Buffer {
  let bits = '';
  for (let left = blocks; left > 0; left -= LONGEST_RUN) {
    const more = Math.max(0, Math.min(left, LONGEST_RUN) - SHORTEST_RUN);
    bits += `0${more.toString(2).padStart(14, '0')}`;
  }
  const bytes = bits.match(/.{1,8}/g)?.map((each) => Number.parseInt(each.padEnd(8, '1'), 2)) ?? [];
  // In the data of a scan, FF is followed by 00.
  return Buffer.from(bytes.flatMap((byte) => (byte === 0xff ? [byte, 0] : [byte])));
}

/** An animated WebP of 1,024 × 1,024 pixels with so many frames of one pixel. */
export async function webpOfFrames(frames: number): Promise<Buffer> {
  const pixel = await sharp({ create: { width: 1, height: 1, channels: 3, background: 'red' } })
    .webp({ lossless: true })
    .toBuffer();
  const side = [0xff, 3, 0];
  const frame = chunkOf('ANMF', Buffer.concat([Buffer.alloc(12), Buffer.from([10, 0, 0, 0]), pixel.subarray(12)]));
  const chunks = [chunkOf('VP8X', Buffer.from([2, 0, 0, 0, ...side, ...side])), chunkOf('ANIM', Buffer.alloc(6))];
  const all = [Buffer.from('WEBP'), ...chunks, ...new Array<Buffer>(frames).fill(frame)];
  return chunkOf('RIFF', Buffer.concat(all));
}

function chunkOf(name: string, content: Buffer): Buffer {
  const length = Buffer.alloc(4);
  length.writeUInt32LE(content.length);
  return Buffer.concat([Buffer.from(name), length, content, Buffer.alloc(content.length % 2)]);
}
