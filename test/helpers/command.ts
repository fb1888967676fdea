import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { PROGRAM } from './program.ts';

export interface CommandOptions {
  /** The working directory, which no project's `.env` lies in. */
  readonly directory: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Whose process it is; only root can choose. */
  readonly uid?: number;
  /** A file descriptor that stdout goes to. */
  readonly stdout?: number;
}

export interface EndedCommand {
  /** The signal's name where one has ended it. */
  readonly exitCode: number | NodeJS.Signals;
  readonly stdout: string;
  readonly stderr: string;
}

/** Starts the command line as `pennant …` does, without a terminal, and waits for nothing. */
export function launchCommand(
  args: readonly string[],
  { directory, env = {}, uid, stdout }: CommandOptions,
): ChildProcess {
  return spawn(process.execPath, [PROGRAM, ...args], {
    cwd: directory,
    env: { PATH: process.env.PATH, ...env },
    stdio: ['pipe', stdout ?? 'pipe', 'pipe'],
    ...(uid !== undefined && { uid, gid: uid }),
  });
}

export async function runCommand(args: readonly string[], options: CommandOptions): Promise<EndedCommand> {
  const child = launchCommand(args, options);
  const written = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const) {
    child[name]?.setEncoding('utf8').on('data', (text: string) => {
      written[name] += text;
    });
  }
  const [code, signal] = (await once(child, 'close')) as [number | null, NodeJS.Signals | null];
  return { exitCode: code ?? signal ?? -1, ...written };
}
