import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import sharp from 'sharp';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startTestApp, type TestApp } from '../helpers/app.ts';
import { catalogLine, writeCatalog } from '../helpers/catalog.ts';
import { sharedEncoder } from '../helpers/encoder.ts';
import { numberedChannelId } from '../helpers/fake-source.ts';

/* `fit=contain` and `background`, by pixels: the whole crop, scaled down, in the centre of exactly the requested size. */

const [BLUE, RED, WHITE, CLEAR] = ['0000ffff', 'ff0000ff', 'ffffffff', '00000000'];
const GREY = '808080ff';

/** Blue to the edge. */
const AVATAR = `/${numberedChannelId(0)}/avatar`;
/** Blue on the left; transparent on the right. */
const HALF_CLEAR = `/${numberedChannelId(1)}/avatar`;
const GREY_AVATAR = `/${numberedChannelId(2)}/avatar`;

let dataDir: string;
let service: TestApp;
beforeAll(async () => {
  const fill = (width: number, height: number, background: string) =>
    sharp({ create: { width, height, channels: 3, background } });
  const half = await fill(150, 300, '#00f').png().toBuffer();
  const images = {
    'blue.png': await fill(300, 300, '#00f').png().toBuffer(),
    'half.png': await sharp(half).extend({ right: 150, background: 'transparent' }).png().toBuffer(),
    'grey.png': await sharp(Buffer.alloc(90_000, 128), { raw: { width: 300, height: 300, channels: 1 } })
      .toColourspace('b-w')
      .png()
      .toBuffer(),
  };
  const lines = ['blue', 'half', 'grey'].map((name, at) => catalogLine(at, { avatarFile: `${name}.png` }));
  dataDir = await mkdtemp(join(tmpdir(), 'pennant-test-'));
  await writeCatalog(dataDir, lines, images);
  service = await startTestApp({ dataDir, encoder: sharedEncoder() });
});
afterAll(async () => {
  await service.close();
  await rm(dataDir, { recursive: true });
});

async function load(url: string) {
  const { status, headers, bytes } = await service.get(url);
  expect([url, status]).toEqual([url, 200]);
  const { hasAlpha } = await sharp(bytes).metadata();
  const pixels = sharp(bytes).toColourspace('srgb').ensureAlpha().raw();
  const { data, info } = await pixels.toBuffer({ resolveWithObject: true });
  /** Red, green, blue and alpha in hex; of a lossy format without its small errors. */
  function colourAt(x: number, y: number): string {
    const at = 4 * (y * info.width + x);
    const values = [...data.subarray(at, at + 4)].map((value) => (value > 245 ? 255 : value < 10 ? 0 : value));
    return values.at(-1) === 0 ? CLEAR : values.map((value) => value.toString(16).padStart(2, '0')).join('');
  }
  return { size: [info.width, info.height], hasAlpha, colourAt, etag: headers.etag, type: headers['content-type'] };
}

async function etagOf(url: string): Promise<string | undefined> {
  return (await load(url)).etag;
}

describe('an avatar in a poster', () => {
  test.each([
    ['png', '', CLEAR],
    ['png', '&background=transparent', CLEAR],
    ['png', '&background=FF0000', RED],
    ['png', '&background=f00', RED],
    ['avif', '', CLEAR],
    ['webp', '', CLEAR],
    ['webp', '&background=ff0000', RED],
    ['jpeg', '', WHITE],
    ['jpeg', '&background=transparent', WHITE],
  ])('in %s%s is whole, and is padded to exactly the requested size', async (format, background, padding) => {
    const { size, colourAt } = await load(`${AVATAR}.${format}?width=200&height=300&fit=contain${background}`);
    expect(size).toEqual([200, 300]);
    // The lines in which a lossy format may mix both colors are left out.
    for (const [x, y] of [
      [0, 0],
      [199, 40],
      [100, 299],
      [0, 255],
    ] as const)
      expect(colourAt(x, y)).toBe(padding);
    for (const [x, y] of [
      [4, 60],
      [195, 60],
      [100, 150],
      [195, 239],
    ] as const)
      expect(colourAt(x, y)).toBe(BLUE);
    if (format === 'png') {
      expect([colourAt(100, 49), colourAt(100, 50)]).toEqual([padding, BLUE]);
      expect([colourAt(100, 249), colourAt(100, 250)]).toEqual([BLUE, padding]);
    }
  });

  test('is not enlarged: the padding is larger instead', async () => {
    const { size, colourAt } = await load(`${AVATAR}.png?width=1000&height=501&fit=contain&background=f00`);
    expect(size).toEqual([1000, 501]);
    expect([colourAt(349, 250), colourAt(350, 250)]).toEqual([RED, BLUE]);
    expect([colourAt(649, 250), colourAt(650, 250)]).toEqual([BLUE, RED]);
    expect([colourAt(500, 99), colourAt(500, 100)]).toEqual([RED, BLUE]);
    expect([colourAt(500, 399), colourAt(500, 400)]).toEqual([BLUE, RED]);
  });

  test('has the color around it although it is greyscale', async () => {
    const { colourAt } = await load(`${GREY_AVATAR}.png?width=100&height=200&fit=contain&background=f00`);
    expect([colourAt(50, 10), colourAt(50, 100)]).toEqual([RED, GREY]);
  });
});

test('the background is also behind the transparent parts', async () => {
  const url = `${HALF_CLEAR}.png?width=100&height=200&fit=contain`;
  const clear = await load(url);
  expect([clear.colourAt(20, 100), clear.colourAt(80, 100), clear.colourAt(50, 10)]).toEqual([BLUE, CLEAR, CLEAR]);
  const red = await load(`${url}&background=f00`);
  expect([red.colourAt(20, 100), red.colourAt(80, 100), red.colourAt(50, 10)]).toEqual([BLUE, RED, RED]);
  expect(red.hasAlpha).toBe(false);
  // Also where nothing is padded.
  const square = await load(`${HALF_CLEAR}.png?width=100&height=100&fit=contain&background=f00`);
  expect([square.colourAt(20, 50), square.colourAt(80, 50)]).toEqual([BLUE, RED]);
});

test('without a format it is a JPEG, or a PNG if the original has transparency', async () => {
  expect((await load(`${AVATAR}?width=100&height=200&fit=contain`)).type).toBe('image/jpeg');
  expect((await load(`${HALF_CLEAR}?width=100&height=200&fit=contain`)).type).toBe('image/png');
});

describe('it is the same image', () => {
  test.each([
    ['fit without both sides', '.png?width=100', ['&fit=contain', '&fit=cover', '&fit=contain&background=f00']],
    ['a background without contain', '.png?width=100&height=200', ['&background=f00', '&fit=cover&background=f00']],
    ['neither side', '.png', ['?fit=contain', '?background=f00', '?fit=contain&background=f00']],
    ['nothing to pad', '.png?width=100&height=100', ['&fit=contain', '&fit=contain&background=f00']],
    ['the default', '.png?width=100&height=200&fit=contain', ['&background=transparent']],
    ['white in JPEG', '.jpeg?width=100&height=200&fit=contain', ['&background=fff', '&background=transparent']],
  ])('with %s', async (_what, start, additions) => {
    const etag = await etagOf(AVATAR + start);
    for (const addition of additions)
      expect([addition, await etagOf(AVATAR + start + addition)]).toEqual([addition, etag]);
  });

  test('in every spelling of a color, and another one in every other color, size or fit', async () => {
    const contained = `${AVATAR}.webp?width=100&height=200&fit=contain`;
    const spellings = ['ffaa00', 'FFAA00', 'fa0', 'Fa0'];
    expect(new Set(await Promise.all(spellings.map((color) => etagOf(`${contained}&background=${color}`)))).size).toBe(
      1,
    );
    const others = [
      `${contained}&background=fa0`,
      `${contained}&background=fa1`,
      contained,
      `${AVATAR}.webp?width=100&height=201&fit=contain`,
      `${AVATAR}.webp?width=100&height=200`,
    ];
    expect(new Set(await Promise.all(others.map(etagOf))).size).toBe(others.length);
  });
});

test('a padded image may be 4,096 pixels long, if it has no more pixels than allowed', async () => {
  expect((await load(`${AVATAR}.png?width=4096&height=1024&fit=contain`)).size).toEqual([4_096, 1_024]);
});

test.each([
  ['fit=fill', 'cover, contain'],
  ['fit=Contain', 'lower case'],
  ['fit=', 'empty'],
  ['fit=contain&fit=cover', 'more than once'],
  ['background=red', 'RRGGBB or RGB'],
  ['background=%23ff0000', 'without #'],
  ['background=ff00', 'RRGGBB'],
  ['background=Transparent', 'transparent'],
  ['background=', 'empty'],
  ['fit=contain&width=4097&height=1', '1 to 4096'],
  ['fit=contain&width=4096&height=1025', '2048 × 2048 pixels in all: choose a smaller'],
])('%s is refused with the values that are allowed', async (query, hint) => {
  const response = await service.get(`${AVATAR}?${query}`);
  expect([response.status, response.json().code]).toEqual([400, 'invalid_parameter']);
  expect(response.json().detail).toContain(hint);
});
