import { mkdtempDisposable } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Runs work with a new directory and removes it. */
export async function inTemporaryDirectory<T>(work: (directory: string) => Promise<T>): Promise<T> {
  await using directory = await mkdtempDisposable(join(tmpdir(), 'pennant-bench-'));
  return await work(directory.path);
}
