import { type StartedProcess, startProcess } from './process.ts';
import { PROGRAM } from './program.ts';

export interface CommandOptions {
  /** The working directory, which contains no `.env` of the project. */
  readonly directory: string;
  readonly env?: Readonly<Record<string, string>>;
  /** The user of the process. Only root can choose. */
  readonly uid?: number;
  /** A file descriptor that stdout goes to. */
  readonly stdout?: number;
}

/** Starts the command line as `pennant …` does, without a terminal, and waits for nothing. */
export function launchCommand(
  args: readonly string[],
  { directory, env = {}, uid, stdout }: CommandOptions,
): StartedProcess {
  return startProcess(process.execPath, [PROGRAM, ...args], {
    cwd: directory,
    env: { PATH: process.env.PATH, ...env },
    stdio: ['pipe', stdout ?? 'pipe', 'pipe'],
    ...(uid !== undefined && { uid, gid: uid }),
  });
}

export type EndedCommand = Awaited<ReturnType<typeof runCommand>>;

export async function runCommand(args: readonly string[], options: CommandOptions) {
  const { closed, stdout, stderr } = launchCommand(args, options);
  return { exitCode: await closed, stdout: stdout(), stderr: stderr() };
}
