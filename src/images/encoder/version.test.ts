import { mkdir, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { createTemporaryDirectory } from '../../../test/helpers/temporary-directory.ts';
import { readLibraryVersion } from './version.ts';

let modules: string;
let importer: string;

beforeEach(async () => {
  const directory = await createTemporaryDirectory();
  modules = join(directory, 'node_modules');
  importer = join(directory, 'encoder.js');
  await writePackage('sharp', '0.35.5');
  await writePackage('@img/sharp-linux-x64', '0.35.5');
  await writePackage('@img/sharp-libvips-linux-x64', '1.3.4');
});

async function writePackage(name: string, version: string, directory = modules): Promise<void> {
  await mkdir(join(directory, name), { recursive: true });
  await writeFile(join(directory, name, 'package.json'), JSON.stringify({ name, version }));
}

describe('the version of the image library', () => {
  test.each([
    ['sharp', '0.35.6'],
    ['@img/sharp-linux-x64', '0.35.6'],
    ['@img/sharp-libvips-linux-x64', '1.3.5'],
    ['@img/sharp-libvips-linux-arm64', '1.3.4'],
  ])('is another one with %s %s', async (name, version) => {
    const before = readLibraryVersion(importer);
    await writePackage(name, version);
    expect(readLibraryVersion(importer)).not.toBe(before);
  });

  test('is the same where the same packages are installed, also as links', async () => {
    const other = await createTemporaryDirectory();
    const [links, stored] = [join(other, 'node_modules'), join(other, 'node_modules/.pnpm/sharp/node_modules')];
    await mkdir(join(stored, '@img'), { recursive: true });
    for (const name of ['@img/sharp-linux-x64', '@img/sharp-libvips-linux-x64']) {
      await symlink(join(modules, name), join(stored, name));
    }
    await writePackage('sharp', '0.35.5', stored);
    await symlink(join(stored, 'sharp'), join(links, 'sharp'));
    await writePackage('express', '5.0.0', links);
    expect(readLibraryVersion(join(other, 'encoder.js'))).toBe(readLibraryVersion(importer));
  });

  test('can be read while the library is not installed', async () => {
    const before = readLibraryVersion(importer);
    await rm(modules, { recursive: true });
    expect(readLibraryVersion(importer)).not.toBe(before);
  });
});
