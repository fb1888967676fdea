import { once } from 'node:events';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { Listener } from '../../src/lib/http/listener.ts';
import { startForTest } from '../helpers/app.ts';
import { createFakeEncoder } from '../helpers/fake-encoder.ts';
import { recordLog } from '../helpers/log.ts';

/* How many connections one client may hold. */

const GET = 'GET / HTTP/1.1\r\nHost: a\r\n\r\n';
const OTHER_ADDRESS = '127.0.0.2';
const SHARE = 128;
const PRIVATE_SHARE = 64;

interface ClientConnection {
  readonly socket: Socket;
  isClosed(): boolean;
  /** Sends the bytes and waits for a response, or for the end. */
  ask(bytes: string): Promise<string>;
}

async function start(env: Record<string, string> = {}) {
  const { lines, logger } = recordLog('warn');
  const settings = { RATE_LIMIT_OVERRIDES: '', ...env };
  const service = await startForTest({ env: settings, logger, encoder: createFakeEncoder() });
  const { http, console: inside } = service.app;
  await Promise.all([http, inside].map(service.listen));
  return { service, http, inside, lines };
}

/** Waits until the listener has accepted the connection. */
async function open({ server }: Listener, localAddress = '127.0.0.1'): Promise<ClientConnection> {
  const accepted = once(server, 'connection');
  const { port } = server.address() as AddressInfo;
  const socket = connect({ port, host: '127.0.0.1', localAddress });
  onTestFinished(() => void socket.destroy());
  let isClosed = false;
  let text = '';
  socket
    .on('error', () => undefined)
    .on('close', () => {
      isClosed = true;
    });
  socket.on('data', (chunk) => {
    text += chunk;
  });
  await once(socket, 'connect');
  await accepted;
  return {
    socket,
    isClosed: () => isClosed,
    async ask(bytes) {
      text = '';
      socket.write(bytes);
      await Promise.race([once(socket, 'data'), once(socket, 'close')]);
      return text.split('\r\n')[0] ?? '';
    },
  };
}

async function openMany(count: number, openOne: () => Promise<ClientConnection>): Promise<ClientConnection[]> {
  const opened: ClientConnection[] = [];
  while (opened.length < count) opened.push(await openOne());
  return opened;
}

const countClosed = (connections: readonly ClientConnection[]) =>
  connections.filter(({ isClosed }) => isClosed()).length;

describe('the connections of one client', () => {
  test('beyond its share are closed at once', async () => {
    const { service, http, lines } = await start();
    const bystander = await open(http, OTHER_ADDRESS);
    const [first, ...others] = await openMany(SHARE, () => open(http));
    const further = await open(http);
    await expect.poll(further.isClosed).toBe(true);
    expect(await first?.ask(GET)).toBe('HTTP/1.1 200 OK');
    expect(await bystander.ask(GET)).toBe('HTTP/1.1 200 OK');
    expect(countClosed(others)).toBe(0);
    expect(await service.metric('pennant_connections_closed_total{reason="client"}')).toBe(1);
    expect(lines).toMatchObject([
      { msg: expect.stringContaining('connections are closed because a client has too many') },
    ]);
  });

  test('are more with a higher limit, in proportion', async () => {
    const { http } = await start({ RATE_LIMIT_OVERRIDES: '127.0.0.1/32=20/30,127.0.0.2/32=unlimited' });
    const others = await openMany(2 * SHARE, () => open(http));
    await expect.poll((await open(http)).isClosed).toBe(true);
    const unlimited = await openMany(2 * SHARE + 10, () => open(http, OTHER_ADDRESS));
    expect(countClosed([...others, ...unlimited])).toBe(0);
  });

  test('are not counted if it is a trusted proxy', async () => {
    const { http } = await start({ TRUST_PROXY: '127.0.0.1/32', BASE_URL: 'https://a.example' });
    const opened = await openMany(SHARE + 10, () => open(http));
    expect(countClosed(opened)).toBe(0);
  });
});

describe('the private listener', () => {
  const GET_HEALTH = 'GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n';

  test('closes the longest idle of too many connections, and says so once', async () => {
    const { service, inside, lines } = await start();
    const [first, ...others] = await openMany(PRIVATE_SHARE + 10, () => open(inside));
    await expect.poll(() => countClosed([first as ClientConnection, ...others])).toBe(10);
    expect(first?.isClosed()).toBe(true);
    expect(await others.at(-1)?.ask(GET_HEALTH)).toBe('HTTP/1.1 200 OK');
    expect(lines).toMatchObject([{ msg: expect.stringContaining('connections to the private listener are closed') }]);
    expect(await service.metric('pennant_private_connections_entries')).toBe(PRIVATE_SHARE);
  });
});
