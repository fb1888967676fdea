import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { createTemporaryDirectory } from '../../test/helpers/temporary-directory.ts';
import { readOpenFilesLimit } from './open-files.ts';

async function limitIn(text: string): Promise<number> {
  const file = join(await createTemporaryDirectory(), 'limits');
  await writeFile(file, text);
  return readOpenFilesLimit(file);
}

it('reads the current limit, not the highest that is allowed', async () => {
  const line = 'Max open files            1024                 524288               files     ';
  expect(await limitIn(`Max processes             10  10  processes\n${line}\n`)).toBe(1_024);
});

it('knows no limit where the system names none', async () => {
  expect(await limitIn('Max open files            unlimited            unlimited            files\n')).toBe(Infinity);
  expect(readOpenFilesLimit('/nonexistent')).toBe(Infinity);
});
