import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process';
import { once } from 'node:events';
import { access, readFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { createInterface } from 'node:readline';

/** The compared servers share the first core and take turns. The load generator has the other core. */
export const SERVER_CORE = 0;
export const LOAD_CORE = 1;

/** Starts a command that only ever runs on one core. Its standard error is shown. */
export function spawnPinned(core: number, command: string, args: readonly string[], options: SpawnOptions = {}) {
  return spawn('taskset', ['-c', String(core), command, ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
    ...options,
  });
}

/** The first line of a process's output that matches, as its capture groups. */
export async function waitForLine(child: ChildProcess, pattern: RegExp): Promise<string[]> {
  if (child.stdout === null) throw new Error('The process was started without an output to read.');
  for await (const line of createInterface({ input: child.stdout })) {
    const match = pattern.exec(line);
    if (match === null) continue;
    child.stdout.resume();
    return match.slice(1);
  }
  throw new Error(`${child.spawnargs.join(' ')} ended before it was ready.`);
}

/** The complete output of a process that ends successfully. */
export async function outputOf(child: ChildProcess): Promise<string> {
  const chunks: Buffer[] = [];
  child.stdout?.on('data', (chunk: Buffer) => chunks.push(chunk));
  const [code] = await once(child, 'close');
  if (code !== 0) throw new Error(`${child.spawnargs.join(' ')} ended with ${code}.`);
  return Buffer.concat(chunks).toString();
}

export async function stopProcess(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
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

/** Whether a program can be started by its name. */
export async function isInstalled(program: string): Promise<boolean> {
  const directories = [...(process.env.PATH ?? '').split(delimiter), '/usr/sbin'];
  const found = await Promise.allSettled(directories.map((directory) => access(join(directory, program))));
  return found.some(({ status }) => status === 'fulfilled');
}
