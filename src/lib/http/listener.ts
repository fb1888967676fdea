import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { OpenConnections } from './open-connections.ts';

/** From `node:http`. Its `import` would also load WebSocket and fetch at every start. */
export const { createServer, IncomingMessage, ServerResponse } = process.getBuiltinModule('node:http');

export interface Lifetime {
  /** True from the call of `close` on. */
  isClosing: boolean;
}

/**
 * New connections that wait while the process is busy; the system may allow fewer (`net.core.somaxconn`). With Node's 511, the
 * connections of a larger burst are tried again after a second, and a proxy takes the instance for unreachable.
 */
const BACKLOG = 4_096;

/** How long before the end of `finish` the requests that are left should get their responses. */
const LAST_RESPONSES_MS = 1_000;
const IDLE_SWEEP_MS = 50;

export type Listener = ReturnType<typeof createListener>;

/** An HTTP server that listens on one address and can be stopped gracefully. */
export function createListener(
  server: Server,
  connections: Pick<OpenConnections, 'closeIdle'>,
  lifetime: Lifetime = { isClosing: false },
) {
  let closed: Promise<void> | undefined;

  /** Refuses new connections, closes idle ones and resolves when the others have closed. */
  function close(): Promise<void> {
    lifetime.isClosing = true;
    closed ??= new Promise((resolve) => (server.listening ? server.close(() => resolve()) : resolve()));
    return closed;
  }

  return {
    server,
    isClosing: () => lifetime.isClosing,
    /** Resolves to the listener's URL. Rejects when the address cannot be bound. */
    async listen(address: { readonly host: string; readonly port: number }): Promise<string> {
      server.listen({ ...address, backlog: BACKLOG });
      await once(server, 'listening');
      const { address: host, family, port } = server.address() as AddressInfo;
      return `http://${family === 'IPv6' ? `[${host}]` : host}:${port}`;
    },
    close,
    /**
     * Closes the listener when accepted requests have their responses, after `ms` at the latest.
     *
     * @param onLastSecond called a second before that if requests are left. They should get a response now
     */
    async finish(ms: number, onLastSecond: () => void): Promise<void> {
      // Node closes idle connections only once, and keeps those with an incomplete request. Requests that have arrived are read before.
      const sweep = setInterval(() => setImmediate(connections.closeIdle), IDLE_SWEEP_MS);
      const cut = setTimeout(() => server.closeAllConnections(), ms);
      const last = setTimeout(onLastSecond, ms - LAST_RESPONSES_MS);
      await close();
      clearInterval(sweep);
      clearTimeout(cut);
      clearTimeout(last);
    },
  };
}
