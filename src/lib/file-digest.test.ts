import { mkdir, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createTemporaryDirectory } from '../../test/helpers/temporary-directory.ts';
import { digestOfFiles } from './file-digest.ts';

async function createFiles(): Promise<string> {
  const directory = await createTemporaryDirectory();
  await mkdir(join(directory, 'lib'));
  await writeFile(join(directory, 'main.js'), 'main');
  await writeFile(join(directory, 'lib/a.js'), 'a');
  return directory;
}

test('equal files have one digest wherever they are, and each change gives another', async () => {
  const [one, other] = [await createFiles(), await createFiles()];
  const digest = digestOfFiles(one);
  expect(digest).toMatch(/^[0-9a-f]{12}$/);
  expect(digestOfFiles(other)).toBe(digest);
  for (const name of ['.tsbuildinfo', 'lib/a.test.ts']) await writeFile(join(other, name), 'no part of it');
  expect(digestOfFiles(other)).toBe(digest);
  await writeFile(join(other, 'lib/a.js'), 'A');
  const changed = digestOfFiles(other);
  expect(changed).not.toBe(digest);
  await rename(join(one, 'lib/a.js'), join(one, 'lib/b.js'));
  expect([digest, changed]).not.toContain(digestOfFiles(one));
});
