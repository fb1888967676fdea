import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { createTemporaryDirectory } from './temporary-directory.ts';

/** A named pipe: opening one end waits until the other end is open. */
export async function createFifo(): Promise<string> {
  const path = join(await createTemporaryDirectory(), 'fifo');
  execFileSync('mkfifo', [path]);
  return path;
}
