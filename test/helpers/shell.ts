import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startProcess } from './process.ts';
import { copyProject } from './project-copy.ts';
import { findFreePort, type ServiceProcess, startService } from './service-process.ts';

const RUN_MS = 240_000;
/** A port in the documents besides those of the service. */
const REPLAY_PORT = '8090';

/** Without the project's programs, which readers run through npm. */
const READERS_PATH = (process.env.PATH ?? '')
  .split(':')
  .filter((folder) => !folder.includes('node_modules'))
  .join(':');

export type Shell = Awaited<ReturnType<typeof openShell>>;

/**
 * A reader's shell: a fresh copy of the project, and a service that answers at the addresses the documents name.
 *
 * @param isServing whether a service is wanted from the start
 */
export async function openShell(isServing: boolean) {
  const directory = await mkdtemp(join(tmpdir(), 'pennant-documents-'));
  await copyProject(directory);
  const replayPort = String(await findFreePort());
  const service = isServing ? await startExampleService(directory) : undefined;
  const servicePorts = { PORT: `${service?.port ?? 0}`, CONSOLE_PORT: URL.parse(service?.inside ?? '')?.port ?? '0' };
  let ports = servicePorts;
  let endServed = () => Promise.resolve();
  let clients = 0;

  /** The requests of each block come from a new client with a full budget. */
  async function writeCurlSettings(): Promise<void> {
    clients += 1;
    const lines = ['localhost', '127.0.0.1'].flatMap((host) => [
      `connect-to = "${host}:8080:127.0.0.1:${ports.PORT}"`,
      `connect-to = "${host}:8081:127.0.0.1:${ports.CONSOLE_PORT}"`,
    ]);
    lines.push(`header = "X-Forwarded-For: 10.1.${clients >> 8}.${clients & 255}"`);
    await writeFile(join(directory, '.curlrc'), lines.join('\n'));
  }

  function start(commands: string, env: Record<string, string>) {
    const started = startProcess('bash', ['-eu', '-c', commands.replaceAll(REPLAY_PORT, replayPort)], {
      cwd: directory,
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { PATH: READERS_PATH, HOME: directory, CURL_HOME: directory, npm_config_update_notifier: 'false', ...env },
    });
    const signalAll = (signal: NodeJS.Signals) => {
      try {
        process.kill(-(started.child.pid as number), signal);
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
      }
    };
    return { ...started, signalAll };
  }

  /** Ends what `serve` has started, and expects a clean exit. */
  async function stopServing(): Promise<void> {
    const end = endServed;
    endServed = () => Promise.resolve();
    ports = servicePorts;
    await end();
  }

  return {
    directory,
    /** @throws Error with the complete output if a command fails or they take too long */
    async run(commands: string): Promise<string> {
      await writeCurlSettings();
      const { closed, stdout, output, signalAll } = start(commands, ports);
      const timer = setTimeout(() => signalAll('SIGKILL'), RUN_MS);
      const how = await closed;
      clearTimeout(timer);
      if (how !== 0) throw new Error(`ended with ${how}:\n${output()}`);
      return stdout();
    },
    /** Starts commands that keep running, and waits until a service listens. It replaces the earlier service. */
    async serve(commands: string): Promise<void> {
      const free = { PORT: String(await findFreePort()), CONSOLE_PORT: String(await findFreePort()) };
      const env = { ...free, DATA_DIR: join(directory, 'served'), TRUST_PROXY: '127.0.0.1/32' };
      const { printed, signalAll, closed, output } = start(commands, env);
      await printed(new RegExp(`:${free.PORT}\\. Try:`));
      ports = free;
      endServed = async () => {
        // Like a terminal: all processes get the signal, and npm passes it on again.
        signalAll('SIGINT');
        await closed;
        if (!/stopping:(?!.*stopped at once)/s.test(output())) throw new Error(`not in order:\n${output()}`);
      };
    },
    stopServing,
    async close() {
      await stopServing();
      service?.child.kill();
      await service?.ended;
      await rm(directory, { recursive: true, force: true });
    },
  };
}

/** Starts the service like `npm start`, on free ports and without internet access. */
async function startExampleService(directory: string): Promise<ServiceProcess> {
  const nobody = `http://127.0.0.1:${await findFreePort()}`;
  return startService({
    directory,
    env: {
      // The documents' --check compares this port with that of the running service.
      PORT: String(await findFreePort()),
      SOURCES: '',
      RATE_LIMIT_OVERRIDES: '',
      TRUST_PROXY: '127.0.0.1/32',
      YOUTUBE_ORIGIN: nobody,
      YOUTUBE_IMAGE_ORIGIN: nobody,
    },
  });
}
