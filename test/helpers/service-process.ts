import { once } from 'node:events';
import { mkdir, readFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { threadId } from 'node:worker_threads';
import { type CommandOptions, launchCommand, PROGRAM } from './process.ts';

/** The data directory is created in the working directory. */
export interface ServiceOptions extends Omit<CommandOptions, 'stdout'> {
  /** A command that runs the command after it. */
  readonly prefix?: readonly string[];
}

/** Starts the service on loopback, without a rate limit unless the settings name one, and waits for nothing. */
export function launchService({ prefix = [], program = [process.execPath, PROGRAM], ...options }: ServiceOptions) {
  return launchCommand(['serve'], {
    ...options,
    program: [...prefix, ...program],
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
export async function startService(options: ServiceOptions) {
  await mkdir(options.directory, { recursive: true });
  const consolePort = await findFreePort();
  const startedAtMs = performance.now();
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
      /** The time from the start of the process until it could respond. */
      startedInMs: performance.now() - startedAtMs,
    };
  } catch (error) {
    launched.child.kill('SIGKILL');
    throw error;
  }
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
  } catch {
    return false;
  }
  server.close();
  await once(server, 'close');
  return true;
}

/** Memory that a process has in use, without its children. */
export async function residentBytes(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]) * 1024;
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
