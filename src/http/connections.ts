import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { OpenConnections } from '../lib/http/open-connections.ts';
import type { BoundedStats } from '../lib/metrics.ts';
import type { ClientLimit, RateLimit } from '../rate-limit/limiter.ts';
import type { ClientIdentification } from './request/client-identification.ts';
import type { PublicResponse, RequestContext } from './request/context.ts';
import { type Connection, createConnection, createSliceReader, isInBody } from './slices.ts';

/**
 * How long a closing connection stays open for its client. If it were destroyed with unread bytes, the kernel would reset it
 * before the client has read the response.
 */
const LINGER_MS = 1_000;

/** The connections of a client with the default limit. A client with n times that limit may have n times as many. */
const CONNECTIONS_PER_CLIENT = 128;

/** Node reads at most this much at a time, and reads no more until all of it has been parsed. */
const READ_BYTES = 64 * 1_024;

/** A longer header section is refused. */
export const MAX_HEADER_BYTES = 24 * 1_024;

type RequestHandler = (request: IncomingMessage, response: ServerResponse) => void;

/**
 * Bounds the connections of one client and the work that one connection can cause in a turn of the event loop, and closes the
 * connections of clients that keep sending after a refusal.
 */
export interface Connections {
  /** For the event `connection`. */
  open(socket: Socket): void;
  /** Returns a handler that ignores requests on a connection that is closing. */
  receive(handle: RequestHandler): RequestHandler;
  /** The response step that closes the connection after a 429, and after a 405 while the client sends a body. */
  closeAfterError(context: RequestContext, response: PublicResponse): PublicResponse | undefined;
  /** Closes both sides. Node would keep its own side open as long as the client does. @param text the last response */
  close(socket: Socket, text?: string): void;
  closeIdle: OpenConnections['closeIdle'];
  /** The slice that the parser has, one character per byte. `undefined` for a proxy. */
  sliceOf(socket: Socket): string | undefined;
  /** Whether the body of the latest request is incomplete. */
  isInBody(socket: Socket): boolean;
  /** Waits until earlier requests have their responses, because bytes that are written now would land inside them. */
  responsesEnd(socket: Socket): Promise<void>;
  /** The connections, and the bytes that were received on them and do not form a request yet. */
  stats(): BoundedStats;
}

interface ConnectionsOptions {
  readonly clients: Pick<ClientIdentification, 'identify' | 'isTrustedProxy'>;
  readonly openConnections: OpenConnections;
  readonly defaultLimit: RateLimit;
}

/**
 * A client's bytes are parsed in slices, and a slice waits until the requests before it have their responses. A trusted
 * proxy's bytes are parsed as they arrive, because slices would make a cached response a tenth slower.
 */
export function createConnections({ clients, openConnections, defaultLimit }: ConnectionsOptions): Connections {
  const connections = new WeakMap<Socket, Connection>();
  const slices = createSliceReader();

  function connectionOf(socket: Socket): Connection {
    let connection = connections.get(socket);
    if (connection === undefined) {
      connection = createConnection(clients.isTrustedProxy(socket.remoteAddress ?? ''));
      connections.set(socket, connection);
    }
    return connection;
  }

  function stopReading(socket: Socket): void {
    const connection = connectionOf(socket);
    if (connection.isClosing) return;
    connection.isClosing = true;
    if (connection.isProxy) slices.read(socket, connection, () => close(socket));
  }

  function close(socket: Socket, text?: string): void {
    stopReading(socket);
    if (text === undefined) socket.end();
    else socket.end(text);
    const linger = setTimeout(() => socket.destroy(), LINGER_MS);
    socket.once('close', () => clearTimeout(linger));
  }

  return {
    open(socket) {
      const connection = connectionOf(socket);
      if (connection.isProxy) return openConnections.add(socket, undefined);
      const { key, network, limit } = clients.identify(socket.remoteAddress ?? '', undefined);
      openConnections.add(socket, { key, network, maxConnections: maxConnectionsOf(limit, defaultLimit) });
      slices.read(socket, connection, () => close(socket));
    },

    receive(handle) {
      return (request, response) => {
        const connection = connectionOf(request.socket);
        connection.latest = response;
        openConnections.begin(request.socket, response);
        connection.bytesSinceRequest = 0;
        if (!connection.isClosing) handle(request, response);
      };
    },

    closeAfterError({ request }, response) {
      const { socket } = request;
      const isOverLimit = response.status === 429 && !connectionOf(socket).isProxy;
      const hasUnreadBody = response.status === 405 && isSendingBody(request);
      if (!isOverLimit && !hasUnreadBody) return undefined;
      stopReading(socket);
      return { ...response, headers: { ...response.headers, connection: 'close' }, onSent: () => close(socket) };
    },

    close,

    closeIdle: openConnections.closeIdle,

    sliceOf(socket) {
      const { isProxy, slice } = connectionOf(socket);
      return isProxy ? undefined : slice;
    },

    isInBody: (socket) => isInBody(connectionOf(socket)),

    async responsesEnd(socket) {
      const { latest } = connectionOf(socket);
      if (latest !== undefined && !latest.closed && !socket.destroyed)
        await new Promise((resolve) => latest.once('close', resolve));
    },

    stats() {
      let bytes = 0;
      for (const socket of openConnections.sockets()) {
        const connection = connectionOf(socket);
        const headerBytes = isInBody(connection) ? 0 : Math.min(connection.bytesSinceRequest, MAX_HEADER_BYTES);
        bytes += socket.readableLength + headerBytes;
      }
      const { entries, maxEntries } = openConnections.stats();
      return { entries, maxEntries, bytes, maxBytes: maxEntries * (READ_BYTES + MAX_HEADER_BYTES) };
    },
  };
}

function maxConnectionsOf(limit: ClientLimit, defaultLimit: RateLimit): number {
  if (limit === 'unlimited') return Number.POSITIVE_INFINITY;
  const rateOf = ({ requests, windowMs }: RateLimit) => requests / windowMs;
  return Math.ceil(CONNECTIONS_PER_CLIENT * Math.max(1, rateOf(limit) / rateOf(defaultLimit)));
}

function isSendingBody({ headers, complete }: IncomingMessage): boolean {
  return !complete && (headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined);
}
