import { execFileSync } from 'node:child_process';
import { mkdir, readdir, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { pngOf } from '../../../test/helpers/catalog.ts';
import { createTemporaryDirectory } from '../../../test/helpers/temporary-directory.ts';
import { findImageFile, MAX_IMAGE_BYTES, placeImage, readImageFile } from './image-files.ts';

/** Windows has no named pipes in directories. */
const HAS_PIPES = process.platform !== 'win32';

const named = (digit: string) => `${digit.repeat(32)}.gif`;
const [IMAGE, FOLDER, LARGE, PIPE] = [named('1'), named('2'), named('3'), named('4')];

let directory: string;
beforeEach(async () => {
  directory = join(await createTemporaryDirectory(), 'images');
  await mkdir(join(directory, FOLDER), { recursive: true });
  await writeFile(join(directory, IMAGE), 'GIF89a');
  await writeFile(join(directory, '..', named('5')), 'outside');
  await writeFile(join(directory, LARGE), '');
  await truncate(join(directory, LARGE), MAX_IMAGE_BYTES + 1);
  // Reading it would never end, because nothing writes to it.
  if (HAS_PIPES) execFileSync('mkfifo', [join(directory, PIPE)]);
});

test('an image of the catalog is found and read by its name', async () => {
  expect(await findImageFile(directory, IMAGE)).toBe(join(directory, IMAGE));
  expect(await readImageFile(directory, IMAGE)).toEqual(Buffer.from('GIF89a'));
});

test.each([
  ['a missing file', named('6')],
  ['a folder', FOLDER],
  ['a file over the limit', LARGE],
  ...(HAS_PIPES ? [['a pipe', PIPE]] : []),
  ['a name that leads out of the folder', `../${named('5')}`],
  ['an absolute path', '/etc/passwd'],
  ['a name that no import gives', 'banner.gif'],
  ['an empty name', ''],
])('%s is no image of the catalog', async (_what, fileName) => {
  expect(await findImageFile(directory, fileName)).toBeUndefined();
  expect(await readImageFile(directory, fileName)).toBeUndefined();
});

test('an image that cannot be placed leaves nothing behind', async () => {
  const target = join(directory, '..', 'target');
  await writeFile(join(directory, 'given.png'), pngOf('one'));
  const place = (to: string | null) => placeImage('bannerFile', 'given.png', directory, to);
  const name = place(null);
  // In the way of the image.
  await mkdir(join(target, name), { recursive: true });
  expect(() => place(target)).toThrow(name);
  expect(await readdir(target)).toEqual([name]);
});
