import { type SpawnOptions, spawn } from 'node:child_process';
import { EventEmitter, once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { HANG_MS } from './wait.ts';

/** The file that `npm start` and the package's command run. */
export const PROGRAM = fileURLToPath(new URL('../../bin/pennant.cjs', import.meta.url));

/** An exit code, or the signal that ended a process. */
export type ProcessEnd = number | NodeJS.Signals;

export type StartedProcess = ReturnType<typeof startProcess>;

/** Starts a process whose output is kept. */
export function startProcess(command: string, args: readonly string[], options: SpawnOptions = {}) {
  const child = spawn(command, args, options);
  const texts = { stdout: '', stderr: '', all: '' };
  const changes = new EventEmitter();
  for (const name of ['stdout', 'stderr'] as const) {
    child[name]?.setEncoding('utf8').on('data', (text: string) => {
      texts[name] += text;
      texts.all += text;
      changes.emit('printed');
    });
  }
  const endOf = async (event: 'exit' | 'close'): Promise<ProcessEnd> => {
    const [code, signal] = (await once(child, event)) as [number | null, NodeJS.Signals];
    return code ?? signal;
  };
  const [ended, closed] = [endOf('exit'), endOf('close')];
  // Callers wait for one of the two. Both reject for a program that cannot be started.
  for (const end of [ended, closed]) end.catch(() => undefined);

  return {
    child,
    ended,
    /** Like `ended`, once its output is complete. Processes that it has started may delay this. */
    closed,
    stdout: () => texts.stdout,
    stderr: () => texts.stderr,
    /** Both, in the order in which they came. */
    output: () => texts.all,
    /**
     * Waits until the output matches.
     *
     * @throws Error with the output if the process ends before, or after a minute
     */
    async printed(pattern: RegExp): Promise<RegExpExecArray> {
      const signal = AbortSignal.timeout(HANG_MS);
      for (;;) {
        const found = pattern.exec(texts.all);
        if (found !== null) return found;
        const how = await Promise.race([once(changes, 'printed', { signal }), ended]).catch(String);
        if (!Array.isArray(how)) throw new Error(`${command} did not print ${pattern}, ${how}:\n${texts.all}`);
      }
    },
  };
}

export interface CommandOptions {
  /** The working directory, which contains no `.env` of the project. */
  readonly directory: string;
  readonly env?: Readonly<Record<string, string>>;
  /** The user of the process. Only root can choose. */
  readonly uid?: number;
  /** A file descriptor that stdout goes to. */
  readonly stdout?: number;
  /** The program to start. Default: the sources. */
  readonly program?: readonly string[];
}

/** Starts the command line as `pennant …` does, without a terminal, and waits for nothing. */
export function launchCommand(
  args: readonly string[],
  { directory, env, uid, stdout, program = [process.execPath, PROGRAM] }: CommandOptions,
): StartedProcess {
  const [command = '', ...ownArgs] = program;
  return startProcess(command, [...ownArgs, ...args], {
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
