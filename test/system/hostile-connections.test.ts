import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { type ServiceProcess, startService } from '../helpers/process.ts';

const TUNNEL = 'CONNECT example.com:443 HTTP/1.1\r\nHost: example.com\r\n\r\n';

let service: ServiceProcess;
let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'pennant-hostile-'));
  service = await startService({ directory });
});
afterAll(async () => {
  service.child.kill('SIGKILL');
  await service.ended;
  await rm(directory, { recursive: true, force: true });
});

const LISTENING = '0A';

/**
 * The connections to a port of 127.0.0.1 that its process has accepted and not closed. Connections that only the
 * client keeps open have no inode (proc_pid_net(5)).
 */
async function countConnections(port: number): Promise<number> {
  const rows = (await readFile('/proc/net/tcp', 'utf8')).split('\n').map((row) => row.trim().split(/\s+/));
  const suffix = `:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  return rows.filter(
    ([, local = '', , state, , , , , , inode = '0']) => local.endsWith(suffix) && state !== LISTENING && inode !== '0',
  ).length;
}

/** A client that never closes its side. */
async function connectHalfOpen(port: number): Promise<Socket> {
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
  socket.on('error', () => undefined);
  onTestFinished(() => void socket.destroy());
  await once(socket, 'connect');
  return socket;
}

test.each([
  ['requested a tunnel', TUNNEL],
  ['sent no HTTP', 'hello there\r\n\r\n'],
  ['sent two lengths', 'GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab'],
])(
  'a connection that %s gets its response and is closed, even if the client keeps its side open',
  async (_what, bytes) => {
    const { port } = service;
    const sockets = await Promise.all(Array.from({ length: 20 }, () => connectHalfOpen(port)));
    await expect.poll(() => countConnections(port)).toBe(sockets.length);
    const responses = sockets.map(async (socket) => {
      socket.write(bytes);
      const [response] = await once(socket, 'data');
      return String(response);
    });
    for (const response of await Promise.all(responses)) expect(response).toMatch(/^HTTP\/1\.1 4\d\d .*"code":/s);
    await expect.poll(() => countConnections(port)).toBe(0);
  },
);

test('clients that ask for a tunnel and reset the connection do not end the service', async () => {
  const { port, base, child } = service;
  for (let count = 0; count < 40; count += 1) {
    const socket = await connectHalfOpen(port);
    socket.write(TUNNEL);
    // Before, while and after the response is written.
    if (count % 4 === 0) await once(socket, 'data');
    else for (let turn = 1; turn < count % 4; turn += 1) await nextTurn();
    socket.resetAndDestroy();
  }
  expect((await fetch(base)).status).toBe(200);
  expect(child.exitCode).toBe(null);
});

test('a burst of connections waits while the process is busy, and every one gets its response', async () => {
  const { child, port } = service;
  const count = Math.min(700, Number(await readFile('/proc/sys/net/core/somaxconn', 'utf8')));
  child.kill('SIGSTOP');
  onTestFinished(() => void child.kill('SIGCONT'));
  let accepted = 0;
  const connecting = Array.from({ length: count }, async () => {
    const socket = await connectHalfOpen(port);
    accepted += 1;
    return socket;
  });
  // The system accepts them for the stopped process. With a shorter queue, the last ones would get no connection.
  await expect.poll(() => accepted).toBe(count);
  child.kill('SIGCONT');
  const statuses = (await Promise.all(connecting)).map(async (socket) => {
    socket.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
    const [response] = await once(socket, 'data');
    return String(response).slice(0, 'HTTP/1.1 200'.length);
  });
  expect(new Set(await Promise.all(statuses))).toEqual(new Set(['HTTP/1.1 200']));
});
