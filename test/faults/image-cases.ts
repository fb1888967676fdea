import type { Sharp } from 'sharp';
import { drawTestCard } from '../helpers/test-card.ts';
import { makeEmptyGiant, pngOf } from './bare-png.ts';

export interface ImageCase {
  readonly name: string;
  readonly contentType?: string;
  make(): Promise<Buffer> | Buffer;
  /** The expected image of `/tv?width=640`, or a status. */
  readonly expected: `${number}×${number}` | 502 | 503;
}

const SIZE = { width: 320, height: 180 };
const card = (): Sharp => drawTestCard(SIZE);
const SVG = '<svg xmlns="http://www.w3.org/2000/svg" width="320" height="180"><rect width="9" height="9"/></svg>';
const SCRIPT = Buffer.from('<script>alert(1)</script>');

/** Images that only a malicious upstream could send. `test/e2e/encoder-originals.test.ts` shows the others. */
export const IMAGE_CASES: readonly ImageCase[] = [
  { name: '7000×7000, just within the limit', make: () => pngOf({ width: 7_000, height: 7_000 }), expected: '640×360' },
  { name: '7100×7100, just over the limit', make: () => pngOf({ width: 7_100, height: 7_100 }), expected: 502 },
  { name: 'bomb: 20000×20000 in 50 KB', make: () => pngOf({ width: 20_000, height: 20_000 }), expected: 502 },
  { name: 'bomb: 65535×65535 in a header', make: makeEmptyGiant, expected: 502 },
  {
    name: '17 MiB',
    make: async () => Buffer.concat([await card().jpeg().toBuffer(), Buffer.alloc(17 * 2 ** 20)]),
    expected: 502,
  },
  { name: 'JPEG cut in half', make: async () => half(await card().jpeg().toBuffer()), expected: 502 },
  { name: 'PNG cut in half', make: async () => half(await card().png().toBuffer()), expected: 502 },
  { name: 'WebP cut in half', make: async () => half(await card().webp().toBuffer()), expected: 502 },
  { name: 'AVIF cut in half', make: async () => half(await card().avif({ effort: 0 }).toBuffer()), expected: 502 },
  {
    name: 'PNG with a page after its end',
    make: async () => Buffer.concat([await card().png().toBuffer(), SCRIPT]),
    expected: '320×180',
  },
  {
    name: 'GIF signature before a script',
    make: () => Buffer.concat([Buffer.from('GIF89a/*'), SCRIPT]),
    expected: 502,
  },
  { name: 'SVG', contentType: 'image/svg+xml', make: () => Buffer.from(SVG), expected: 502 },
  { name: 'SVG that is called PNG', make: () => Buffer.from(SVG), expected: 502 },
  { name: 'TIFF', contentType: 'image/tiff', make: () => card().tiff().toBuffer(), expected: 502 },
  { name: 'PDF', contentType: 'application/pdf', make: () => Buffer.from('%PDF-1.7\n'), expected: 502 },
  { name: '0 bytes', make: () => Buffer.alloc(0), expected: 502 },
  // A host that sends HTML refuses this address: its breaker opens.
  { name: 'HTML', contentType: 'text/html', make: () => Buffer.from('<html></html>'), expected: 503 },
  {
    name: 'JPEG that is called HTML',
    contentType: 'text/html',
    make: () => card().jpeg().toBuffer(),
    expected: 503,
  },
];

function half(bytes: Buffer): Buffer {
  return bytes.subarray(0, bytes.length / 2);
}
