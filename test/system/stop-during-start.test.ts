import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { createServer, type Socket } from 'node:net';
import { describe, expect, onTestFinished, test } from 'vitest';
import { type CommandOptions, childrenOf, launchService } from '../helpers/process.ts';
import { createFifo, createTemporaryDirectory } from '../helpers/temporary-directory.ts';

/*
 * SIGTERM and SIGINT before the service listens. Each start waits at a known point: at a file that has not been written
 * yet, or at a Redis that never responds.
 */

/** Runs it as process 1 of a container, for which the kernel drops signals without a handler. */
const AS_PROCESS_1 = ['unshare', '--fork', '--pid', '--kill-child'];

const STARTS = [
  { as: 'an ordinary process', prefix: [] },
  ...(canBeProcess1() ? [{ as: 'process 1', prefix: AS_PROCESS_1 }] : []),
];

async function launch(options: Omit<CommandOptions, 'directory'>) {
  const directory = await createTemporaryDirectory();
  const launched = launchService({ directory, ...options });
  onTestFinished(() => void launched.child.kill('SIGKILL'));
  return {
    ...launched,
    directory,
    /** Sends the signal to the service itself, whichever process has started it. */
    async signal(name: NodeJS.Signals) {
      const { pid = 0 } = launched.child;
      const [service = pid] = options.prefix?.length ? await childrenOf(pid) : [pid];
      process.kill(service, name);
    },
  };
}

/** Accepts connections and never responds. */
async function startSilentServer() {
  const server = createServer();
  const sockets: Socket[] = [];
  server.on('connection', (socket) => sockets.push(socket.on('error', () => undefined)));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return { server, port: (server.address() as { port: number }).port };
}

describe.each(STARTS)('a start as $as', ({ prefix }) => {
  test('that SIGTERM stops while it connects exits with 0', async () => {
    const { server, port } = await startSilentServer();
    const { signal, ended, output } = await launch({ prefix, env: { REDIS_URL: `redis://127.0.0.1:${port}` } });
    await once(server, 'connection');
    await signal('SIGTERM');
    expect(await ended).toBe(0);
    expect(output()).not.toContain('listens on');
  });

  test('that SIGINT stops while it reads its settings exits with 0', async () => {
    const keyFile = await createFifo();
    const { signal, ended } = await launch({ prefix, env: { YOUTUBE_API_KEY_FILE: keyFile } });
    const writer = createWriteStream(keyFile);
    await once(writer, 'open');
    await signal('SIGINT');
    writer.end('key');
    expect(await ended).toBe(0);
  });
});

function canBeProcess1(): boolean {
  const [command = '', ...args] = AS_PROCESS_1;
  if (spawnSync(command, [...args, 'true']).status === 0) return true;
  console.log('SKIPPED: no PID namespace can be made here, so stopping process 1 is not tested.');
  return false;
}
