import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { PROGRAM, type StartedProcess } from './process.ts';

/** How a service is started whose disk will hang. @param directory its working directory */
export function onHangingDisk(directory: string) {
  const pipe = join(directory, 'pipe');
  execFileSync('mkfifo', [pipe]);
  const hook = new URL('./hang-disk.ts', import.meta.url).href;
  return { program: [process.execPath, '--import', hook, PROGRAM], env: { HANGING_PIPE: pipe } };
}

/** From now on the disk hangs. */
export async function hangDisk({ child, printed }: Pick<StartedProcess, 'child' | 'printed'>): Promise<void> {
  child.kill('SIGUSR2');
  await printed(/the disk hangs/);
}
