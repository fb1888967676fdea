import { once } from 'node:events';
import { connect } from 'node:net';

/** How long opening a connection may take. An abandoned request keeps its half-open connection for this long. */
export const CONNECT_TIMEOUT_MS = 5_000;

/** Opens a connection to the origin, sends nothing and closes it. Rejects if there is none within the time limit. */
export async function tryToConnect(origin: string): Promise<void> {
  const { hostname, port, protocol } = new URL(origin);
  const host = hostname.replace(/^\[(.*)\]$/, '$1');
  const socket = connect({ host, port: Number(port) || (protocol === 'https:' ? 443 : 80) });
  // Must not delay a stop.
  socket.unref();
  try {
    await once(socket, 'connect', { signal: AbortSignal.timeout(CONNECT_TIMEOUT_MS) });
  } finally {
    socket.destroy();
  }
}
