import { execFileSync } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';

/** A directory for the running test, which is removed at its end. */
export async function createTemporaryDirectory(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'pennant-test-'));
  // The processes of a service that was killed may write for a moment longer.
  onTestFinished(() => rm(directory, { recursive: true, force: true, maxRetries: 10 }));
  return directory;
}

/** A named pipe in a directory of its own: opening one end waits until the other end is open. */
export async function createFifo(): Promise<string> {
  const path = join(await createTemporaryDirectory(), 'fifo');
  execFileSync('mkfifo', [path]);
  return path;
}
