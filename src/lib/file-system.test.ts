import { existsSync, mkdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createTemporaryDirectory } from '../../test/helpers/temporary-directory.ts';
import { makeDirectory } from './file-system.ts';

test('makes a directory with those above it, and bears that it is there', async () => {
  const path = join(await createTemporaryDirectory(), 'a', 'b', 'c');
  makeDirectory(path);
  makeDirectory(path);
  makeDirectory('/');
  makeDirectory('.');
  expect(statSync(path).isDirectory()).toBe(true);
});

test('fails where a file has the name, or one of those above', async () => {
  const directory = await createTemporaryDirectory();
  writeFileSync(join(directory, 'file'), '');
  expect(() => makeDirectory(join(directory, 'file'))).toThrow('EEXIST');
  expect(() => makeDirectory(join(directory, 'file', 'below'))).toThrow('ENOTDIR');
});

test.skipIf(!existsSync('/proc/self'))('fails at once where no directory can be made', () => {
  expect(() => mkdirSync('/proc/pennant')).toThrow('ENOENT');
  expect(() => makeDirectory('/proc/pennant/below')).toThrow('ENOENT');
});
