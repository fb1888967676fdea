import { spawnSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { PATH_WITH_SERVERS } from '../test/helpers/installed.ts';
import type { StartedProcess } from '../test/helpers/process.ts';

/**
 * The beginnings of commands that only ever run on one core. The compared servers share the first core and take turns.
 * The load generator has the other core.
 */
export const ON_SERVER_CORE = ['taskset', '-c', '0'] as const;
export const ON_LOAD_CORE = ['taskset', '-c', '1'] as const;

export async function stopProcess({ child, ended }: Pick<StartedProcess, 'child' | 'ended'>): Promise<void> {
  child.kill('SIGTERM');
  await ended;
}

/** USER_HZ of proc(5), fixed at 100 on every architecture that Node runs on. */
const TICKS_PER_SECOND = 100;

/** CPU time of a process and its threads so far, without its children. */
export async function cpuSeconds(pid: number): Promise<number> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8');
  // The command's name is in parentheses and may contain spaces, so fields are counted after it.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND;
}

/** True if a program can be started by its name. */
export function isInstalled(program: string): boolean {
  return spawnSync(program, ['--help'], { stdio: 'ignore', env: { PATH: PATH_WITH_SERVERS } }).error === undefined;
}
