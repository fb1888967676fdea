import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

export interface SlowProxy {
  readonly port: number;
  /** From now on everything that the server sends arrives this much later, in order. */
  setDelayMs(delayMs: number): void;
  close(): void;
}

/** A slow network in front of a server on loopback. */
export async function startSlowProxy(serverPort: number): Promise<SlowProxy> {
  let delayMs = 0;
  const sockets = new Set<Socket>();

  function track(socket: Socket, other: Socket): void {
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.on('close', () => {
      sockets.delete(socket);
      other.destroy();
    });
  }

  const proxy = createServer((client) => {
    const server = connect(serverPort, '127.0.0.1');
    track(client, server);
    track(server, client);
    client.on('data', (chunk) => server.write(chunk));
    server.on('data', (chunk) => setTimeout(() => client.write(chunk), delayMs));
  }).listen(0, '127.0.0.1');
  await once(proxy, 'listening');

  return {
    port: (proxy.address() as AddressInfo).port,
    setDelayMs(newDelayMs) {
      delayMs = newDelayMs;
    },
    close() {
      proxy.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}
