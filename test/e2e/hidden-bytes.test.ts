import sharp from 'sharp';
import { beforeAll, expect, test } from 'vitest';
import { FORMATS, type Format, formatRow } from '../../src/domain/formats.ts';
import { startForTest, type TestApp } from '../helpers/app.ts';
import { catalogLine, writeCatalog } from '../helpers/catalog.ts';
import { sharedEncoder } from '../helpers/encoder.ts';
import { numberedChannelId } from '../helpers/fake-source.ts';
import { createDataDir } from '../helpers/started-data-dir.ts';
import { drawTestCard } from '../helpers/test-card.ts';

/** A text that no encoder writes. */
const SEED = '<script>hidden()</script>';
const EVERY_SIZE = { width: 160, height: 90 };

const encoder = sharedEncoder();
const originals = new Map<Format, Buffer>();
beforeAll(async () => {
  for (const format of FORMATS) {
    const drawn = drawTestCard(EVERY_SIZE)
      .withExif({ IFD0: { Artist: SEED } })
      .withXmp(`<x>${SEED}</x>`)
      .withIccProfile('p3');
    originals.set(format, Buffer.concat([await drawn.toFormat(format).toBuffer(), Buffer.from(SEED)]));
  }
});

/** A service whose channels have these banners, by number. */
async function start(banners: readonly Buffer[]): Promise<TestApp> {
  const dataDir = await createDataDir();
  const files = Object.fromEntries(banners.map((bytes, number) => [`${number}.bin`, bytes]));
  const lines = banners.map((_, number) => catalogLine(number, { bannerFile: `${number}.bin` }));
  await writeCatalog(dataDir, lines, files);
  return startForTest({ dataDir, encoder });
}

test('no byte of an original is sent unless it is part of the image', async () => {
  const service = await start([...originals.values()]);
  for (const [number, [format, original]] of [...originals].entries()) {
    expect([format, original.includes(SEED)]).toEqual([format, true]);
    // All of the original in its own size: every other image is a part of it, or scaled.
    const { status, bytes } = await service.get(`/${numberedChannelId(number)}/tv.${formatRow(format).extension}`);
    expect([format, status, bytes.includes(SEED)]).toEqual([format, 200, false]);
    const { exif, xmp, icc, iptc, comments, width, height } = await sharp(bytes).metadata();
    expect([width, height]).toEqual([EVERY_SIZE.width, EVERY_SIZE.height]);
    expect([format, exif, xmp, icc, iptc, comments]).toEqual([format, ...Array(5)]);
  }
});

test('an original without anything else is encoded too', async () => {
  const [jpeg, png] = await Promise.all([
    drawTestCard(EVERY_SIZE).jpeg({ quality: 61 }).toBuffer(),
    drawTestCard(EVERY_SIZE).png({ compressionLevel: 1 }).toBuffer(),
  ]);
  const service = await start([jpeg, png]);
  expect((await service.get(`/${numberedChannelId(0)}/tv.jpg`)).bytes.equals(jpeg)).toBe(false);
  expect((await service.get(`/${numberedChannelId(1)}/tv.png`)).bytes.equals(png)).toBe(false);
  // A client that accepts nothing in particular.
  const { headers, bytes } = await service.get(`/${numberedChannelId(0)}/tv`);
  expect([headers['content-type'], bytes.equals(jpeg)]).toEqual(['image/jpeg', false]);
});
