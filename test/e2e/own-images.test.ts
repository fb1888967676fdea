import { mkdir, rename, rm, symlink, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import sharp from 'sharp';
import { beforeEach, expect, test } from 'vitest';
import { startForTest, type TestApp } from '../helpers/app.ts';
import { catalogLine, writeCatalog } from '../helpers/catalog.ts';
import { createManualClock, type ManualClock } from '../helpers/clock.ts';
import { sharedEncoder } from '../helpers/encoder.ts';
import { numberedChannelId } from '../helpers/fake-source.ts';
import { decodeImage } from '../helpers/image.ts';
import { createDataDir } from '../helpers/started-data-dir.ts';
import { createTemporaryDirectory } from '../helpers/temporary-directory.ts';
import { drawTestCard } from '../helpers/test-card.ts';

/* Images of the operator's own channels: files in the folder of the catalog. */

const OWN = numberedChannelId(1);

const encoder = sharedEncoder();
let images: string;
let clock: ManualClock;
let app: TestApp;
beforeEach(async () => {
  const dataDir = await createDataDir();
  await writeCatalog(dataDir, [catalogLine(1, { avatarFile: 'avatar.png' })], { 'avatar.png': await imageOf(64) });
  images = join(dataDir, 'catalog', 'images');
  clock = createManualClock();
  app = await startForTest({ dataDir, clock, encoder });
});

const imageOf = (size: number) => drawTestCard({ width: size, height: size }).png().toBuffer();

async function replaceAvatar(bytes: Buffer): Promise<void> {
  await writeFile(join(images, 'new.png'), bytes);
  await rename(join(images, 'new.png'), join(images, 'avatar.png'));
}

async function getAvatar(headers: Record<string, string> = {}) {
  const response = await app.get(`/${OWN}/avatar.png`, headers);
  clock.advance(1_000);
  return response;
}

const codeOf = ({ status, text }: { readonly status: number; readonly text: string }) => [
  status,
  JSON.parse(text).code,
];

test('new bytes under an old name never have the ETag of the old ones, also while they are requested', async () => {
  const variants = await Promise.all([32, 48].map(imageOf));
  const widths = new Map<string, number>();
  let isReplacing = true;
  async function load(): Promise<void> {
    while (isReplacing) {
      const { status, headers, bytes } = await getAvatar();
      if (status === 503) continue;
      expect(status).toBe(200);
      const { width } = await decodeImage(bytes);
      const etag = String(headers.etag);
      expect(widths.get(etag) ?? width).toBe(width);
      widths.set(etag, width);
    }
  }
  const loads = [load(), load(), load()];
  for (let round = 0; round < 24; round += 1) {
    await replaceAvatar(variants[round % 2] as Buffer);
    await getAvatar();
  }
  isReplacing = false;
  await Promise.all(loads);
  expect([...widths.values()]).toEqual(expect.arrayContaining([32, 48]));
  const last = await getAvatar();
  expect((await decodeImage(last.bytes)).width).toBe(48);
  const { status } = await getAvatar({ 'if-none-match': String(last.headers.etag) });
  expect(status).toBe(304);
});

test('new bytes with the size and the time of the old ones are seen', async () => {
  const [small, large] = [await imageOf(32), await imageOf(48)];
  const avatar = join(images, 'avatar.png');
  for (const [width, bytes] of [[32, small] as const, [48, large] as const]) {
    // A decoder ignores what follows the image.
    await writeFile(avatar, Buffer.concat([bytes, Buffer.alloc(100_000 - bytes.length)]));
    await utimes(avatar, 1_000, 1_000);
    expect((await decodeImage((await getAvatar()).bytes)).width).toBe(width);
  }
});

test('an image is a JPEG if its alpha channel is opaque everywhere, else a PNG', async () => {
  const typeOf = async () => (await app.get(`/${OWN}/avatar`)).headers['content-type'];
  const opaque = sharp({ create: { width: 64, height: 64, channels: 4, background: '#48a' } });
  await replaceAvatar(await opaque.clone().png().toBuffer());
  expect(await typeOf()).toBe('image/jpeg');
  clock.advance(1_000);
  await replaceAvatar(await opaque.extend({ right: 1, background: '#48a8' }).png().toBuffer());
  expect(await typeOf()).toBe('image/png');
});

test('an image that is missing is an error that says so, until it is there again', async () => {
  await rm(join(images, 'avatar.png'));
  expect(codeOf(await getAvatar())).toEqual([502, 'upstream_invalid']);
  await replaceAvatar(await imageOf(64));
  expect((await getAvatar()).status).toBe(200);
});

test('an image that disappears is served as it was stored', async () => {
  const { bytes } = await getAvatar();
  await rm(join(images, 'avatar.png'));
  expect(await getAvatar()).toMatchObject({ status: 200, bytes });
});

test('a link that leads out of the folder, a folder and a file that is too large are refused', async () => {
  const outside = join(await createTemporaryDirectory(), 'outside.png');
  await writeFile(outside, await imageOf(64));
  const avatar = join(images, 'avatar.png');
  const makers = [
    () => symlink(outside, avatar),
    () => mkdir(avatar),
    async () => writeFile(avatar, Buffer.concat([await imageOf(64), Buffer.alloc(16 * 1024 * 1024)])),
  ];
  for (const make of makers) {
    await rm(avatar, { recursive: true });
    await make();
    expect(codeOf(await getAvatar())).toEqual([502, 'upstream_invalid']);
  }
});

test('an image that cannot be read is unavailable, not a bug of the service', async () => {
  const avatar = join(images, 'avatar.png');
  await rm(avatar);
  // Fails for every user. The permissions of a file stop all users but root.
  await symlink(avatar, avatar);
  const response = await getAvatar();
  expect(codeOf(response)).toEqual([503, 'upstream_unavailable']);
  expect(response.headers['retry-after']).toBeDefined();
});
