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

interface Ports {
  readonly publicPort: number;
  readonly privatePort: number;
}

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
  let clients = 0;
  let served: { readonly ports: Ports; stop(): Promise<void> } | undefined;

  /** The requests of each block come from a new client with a full budget. */
  async function writeCurlSettings(): Promise<void> {
    clients += 1;
    const { publicPort, privatePort } = served?.ports ?? portsOf(service);
    const lines = ['localhost', '127.0.0.1'].flatMap((host) => [
      `connect-to = "${host}:8080:127.0.0.1:${publicPort}"`,
      `connect-to = "${host}:8081:127.0.0.1:${privatePort}"`,
    ]);
    lines.push(`header = "X-Forwarded-For: 10.1.${clients >> 8}.${clients & 255}"`);
    await writeFile(join(directory, '.curlrc'), lines.join('\n'));
  }

  function start(commands: string, env: Record<string, string> = {}) {
    const text = commands.replaceAll(REPLAY_PORT, replayPort);
    const started = startProcess('bash', ['-eu', '-c', text], {
      cwd: directory,
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
      env: {
        PATH: READERS_PATH,
        HOME: directory,
        CURL_HOME: directory,
        npm_config_update_notifier: 'false',
        ...env,
      },
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

  return {
    directory,
    /** @throws Error with the complete output if a command fails or they take too long */
    async run(commands: string): Promise<string> {
      await writeCurlSettings();
      const { publicPort, privatePort } = served?.ports ?? portsOf(service);
      const env = { PORT: String(publicPort), CONSOLE_PORT: String(privatePort) };
      const { closed, stdout, output, signalAll } = start(commands, env);
      const timer = setTimeout(() => signalAll('SIGKILL'), RUN_MS);
      const how = await closed;
      clearTimeout(timer);
      if (how !== 0) throw new Error(`ended with ${how}:\n${output()}`);
      return stdout();
    },
    /** Starts commands that keep running, and waits until a service listens. It replaces the earlier service. */
    async serve(commands: string): Promise<void> {
      const [publicPort, privatePort] = [await findFreePort(), await findFreePort()];
      const env = { PORT: String(publicPort), CONSOLE_PORT: String(privatePort), DATA_DIR: join(directory, 'served') };
      const started = start(commands, { ...env, TRUST_PROXY: '127.0.0.1/32' });
      await started.printed(new RegExp(`:${publicPort}\\. Try:`));
      served = {
        ports: { publicPort, privatePort },
        async stop() {
          // Like a terminal: all processes get the signal, and npm passes it on again.
          started.signalAll('SIGINT');
          await started.closed;
          const output = started.output();
          if (!/stopping:(?!.*stopped at once)/s.test(output)) throw new Error(`not in order:\n${output}`);
        },
      };
    },
    /** Ends what `serve` has started, and expects a clean exit. */
    async stopServing() {
      const { stop } = served ?? {};
      served = undefined;
      await stop?.();
    },
    async close() {
      await served?.stop();
      service?.child.kill();
      await service?.ended;
      await rm(directory, { recursive: true, force: true });
    },
  };
}

function portsOf(service: ServiceProcess | undefined): Ports {
  if (service === undefined) return { publicPort: 0, privatePort: 0 };
  return { publicPort: service.port, privatePort: Number(new URL(service.inside).port) };
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
