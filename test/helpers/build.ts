import { execFileSync } from 'node:child_process';
import { ROOT } from './documents.ts';

/** Set-up of Vitest: compiles what is out of date in dist/, which has the pages and the program that tests start. */
export function setup(): void {
  execFileSync(process.execPath, ['--run', 'build'], { cwd: ROOT, stdio: ['ignore', 'inherit', 'inherit'] });
}
