import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

/** More at once would overflow the listener's backlog, which is a limit of the kernel. */
const BATCH = 200;

/** Connections on which nothing is sent. The caller destroys them. */
export async function openConnections(port: number, count: number, localAddress?: string): Promise<Socket[]> {
  const sockets: Socket[] = [];
  while (sockets.length < count) {
    const batch = Array.from({ length: Math.min(BATCH, count - sockets.length) }, () =>
      openConnection(port, localAddress),
    );
    sockets.push(...(await Promise.all(batch)));
  }
  return sockets;
}

/** @param localAddress the client's own address */
export async function openConnection(port: number, localAddress?: string): Promise<Socket> {
  const socket = connect({ port, host: '127.0.0.1', ...(localAddress !== undefined && { localAddress }) });
  await once(socket, 'connect');
  // A reset is harmless for an attacker.
  return socket.on('error', () => undefined);
}
