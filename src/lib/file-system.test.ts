import { existsSync, mkdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createTemporaryDirectory } from '../../test/helpers/temporary-directory.ts';
import { makeDirectory } from './file-system.ts';

test('creates a directory with its parents, and accepts an existing one', async () => {
  const path = join(await createTemporaryDirectory(), 'a', 'b', 'c');
  makeDirectory(path);
  makeDirectory(path);
  makeDirectory('/');
  makeDirectory('.');
  expect(statSync(path).isDirectory()).toBe(true);
});

test('fails if the directory or one of its parents is a file', async () => {
  const directory = await createTemporaryDirectory();
  writeFileSync(join(directory, 'file'), '');
  expect(() => makeDirectory(join(directory, 'file'))).toThrow('EEXIST');
  expect(() => makeDirectory(join(directory, 'file', 'below'))).toThrow('ENOTDIR');
});

test.skipIf(!existsSync('/proc/self'))('fails at once if no directory can be created', () => {
  expect(() => mkdirSync('/proc/pennant')).toThrow('ENOENT');
  expect(() => makeDirectory('/proc/pennant/below')).toThrow('ENOENT');
});
