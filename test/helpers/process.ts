import { type SpawnOptions, spawn } from 'node:child_process';
import { EventEmitter, once } from 'node:events';
import { mkdir, readFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { threadId } from 'node:worker_threads';
import { onTestFinished } from 'vitest';
import { HANG_MS } from './wait.ts';

/** The file that `npm start` and the package's command run. */
export const PROGRAM = fileURLToPath(new URL('../../dist/pennant.js', import.meta.url));

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
  /** A command that runs the command after it. */
  readonly prefix?: readonly string[];
  /** The program to start. Default: `dist/` of the project, which the set-up of the tests builds. */
  readonly program?: readonly string[];
}

/** Starts the command line as `pennant …` does, without a terminal, and waits for nothing. */
export function launchCommand(
  args: readonly string[],
  { directory, env, uid, prefix = [], program = [process.execPath, PROGRAM] }: CommandOptions,
): StartedProcess {
  const [command = '', ...commandArgs] = [...prefix, ...program, ...args];
  return startProcess(command, commandArgs, {
    cwd: directory,
    env: { PATH: process.env.PATH, ...env },
    stdio: 'pipe',
    ...(uid !== undefined && { uid, gid: uid }),
  });
}

export type EndedCommand = Awaited<ReturnType<typeof runCommand>>;

export async function runCommand(args: readonly string[], options: CommandOptions) {
  const { closed, stdout, stderr } = launchCommand(args, options);
  return { exitCode: await closed, stdout: stdout(), stderr: stderr() };
}

/**
 * Starts the service on loopback, without a rate limit unless the settings name one, and waits for nothing. The data
 * directory is created in the working directory.
 */
export function launchService(options: CommandOptions): StartedProcess {
  return launchCommand(['serve'], {
    ...options,
    env: {
      HOST: '127.0.0.1',
      PORT: '0',
      CONSOLE_PORT: '0',
      SOURCES: 'catalog',
      DATA_DIR: join(options.directory, 'data'),
      RATE_LIMIT_OVERRIDES: '0.0.0.0/0=unlimited',
      ...options.env,
    },
  });
}

export type ServiceProcess = Awaited<ReturnType<typeof startService>>;

/** The same. Waits until it listens. */
export async function startService(options: CommandOptions) {
  await mkdir(options.directory, { recursive: true });
  const consolePort = await findFreePort();
  const launched = launchService({ ...options, env: { CONSOLE_PORT: String(consolePort), ...options.env } });
  try {
    const [, port] = await launched.printed(/listens on [^:]+:(\d+)/);
    return {
      ...launched,
      pid: launched.child.pid as number,
      /** Of the public listener. */
      port: Number(port),
      base: `http://127.0.0.1:${port}`,
      /** Origin of the private listener. */
      inside: `http://127.0.0.1:${consolePort}`,
    };
  } catch (error) {
    launched.child.kill('SIGKILL');
    throw error;
  }
}

/** The same. It is killed when the test ends. */
export async function startServiceForTest(options: CommandOptions): Promise<ServiceProcess> {
  const service = await startService(options);
  onTestFinished(async () => {
    service.child.kill('SIGKILL');
    await service.ended;
  });
  return service;
}

/** Below the ports of outgoing connections, one of which might take it before the service listens. */
const FIRST_PORT = 10_000;
/** Processes and threads that run at the same time choose from different ranges. */
const RANGES = 200;
const PORTS_PER_RANGE = 100;
const firstPortOfThread = FIRST_PORT + ((process.pid * 7 + threadId) % RANGES) * PORTS_PER_RANGE;
let chosenPorts = 0;

/** A port of this machine that nothing listens on at the moment. Callers in one thread get different ports. */
export async function findFreePort(): Promise<number> {
  for (;;) {
    const port = firstPortOfThread + (chosenPorts % PORTS_PER_RANGE);
    chosenPorts += 1;
    if (await isFree(port)) return port;
  }
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer().listen(port, '127.0.0.1');
  try {
    await once(server, 'listening');
    await once(server.close(), 'close');
    return true;
  } catch {
    return false;
  }
}

/** Memory that a process has in use, without its children. */
export async function residentBytes(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  const kibibytes = /^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1];
  if (kibibytes === undefined) throw new Error(`process ${pid} has ended`);
  return Number(kibibytes) * 1024;
}

/** The encoder processes of a service. */
export async function childrenOf(pid: number): Promise<number[]> {
  const children = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8').catch(() => '');
  return children.split(' ').filter(Boolean).map(Number);
}

/** Also false for a process that has ended and that its parent has not waited for yet. */
export async function isRunning(pid: number): Promise<boolean> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => undefined);
  return stat !== undefined && !/\) Z /.test(stat);
}
