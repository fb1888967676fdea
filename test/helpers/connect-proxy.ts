import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { onTestFinished } from 'vitest';

/** Responds to a CONNECT. */
type ConnectListener = (socket: Duplex, request: IncomingMessage) => void;

/** A proxy of this machine, until the test ends. */
export async function startConnectProxy(onConnect: ConnectListener) {
  const targets: string[] = [];
  const credentials = new Set<string | undefined>();
  const sockets = new Set<Duplex>();
  const server = createServer().on('connect', (request: IncomingMessage, socket: Duplex) => {
    sockets.add(socket);
    socket.on('error', () => undefined).on('close', () => sockets.delete(socket));
    // The sockets of Node's HTTP servers may be half open.
    socket.on('end', () => socket.end()).resume();
    targets.push(request.url ?? '');
    credentials.add(request.headers['proxy-authorization']);
    onConnect(socket, request);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  async function close(): Promise<void> {
    for (const socket of sockets) socket.destroy();
    if (server.listening) await once(server.close(), 'close');
  }
  onTestFinished(close);
  return {
    port: (server.address() as AddressInfo).port,
    /** The hosts and ports that were asked for, in order. */
    targets: targets as readonly string[],
    credentials: credentials as ReadonlySet<string | undefined>,
    openSockets: () => sockets.size,
    close,
  };
}
