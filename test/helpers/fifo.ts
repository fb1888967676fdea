import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { createTemporaryDirectory } from './temporary-directory.ts';

/** A named pipe in a directory of its own: opening one end waits until the other end is open. */
export async function createFifo(name = 'fifo'): Promise<string> {
  const path = join(await createTemporaryDirectory(), name);
  execFileSync('mkfifo', [path]);
  return path;
}
