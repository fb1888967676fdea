import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/** From `node:http`. Its `import` would also load WebSocket and fetch at every start. */
export const { createServer, STATUS_CODES } = process.getBuiltinModule('node:http');

export interface Lifetime {
  /** True from the call of `close` on. */
  isClosing: boolean;
}

/**
 * New connections that wait while the process is busy; the system may allow fewer (`net.core.somaxconn`). With Node's 511, the
 * connections of a larger burst are tried again after a second, and a proxy takes the instance for unreachable.
 */
const BACKLOG = 4_096;

/** An HTTP server that listens on one address and can be stopped gracefully. */
export type Listener = ReturnType<typeof createListener>;

export function createListener(server: Server, lifetime: Lifetime = { isClosing: false }) {
  let closed: Promise<void> | undefined;

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
    /** Refuses new connections, closes idle ones and resolves when the others have closed. */
    close(): Promise<void> {
      lifetime.isClosing = true;
      closed ??= new Promise((resolve) => (server.listening ? server.close(() => resolve()) : resolve()));
      return closed;
    },
  };
}
