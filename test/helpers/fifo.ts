import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { createTemporaryDirectory } from './temporary-directory.ts';

/** A named pipe: whoever opens one end waits until somebody has opened the other. */
export async function createFifo(): Promise<string> {
  const path = join(await createTemporaryDirectory(), 'fifo');
  execFileSync('mkfifo', [path]);
  return path;
}
