import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';

/** A directory of its own for the running test, removed when that ends. */
export async function createTemporaryDirectory(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'pennant-test-'));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  return directory;
}
