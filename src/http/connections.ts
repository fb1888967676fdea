import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { OpenConnections } from '../lib/http/open-connections.ts';
import type { ClientLimit, RateLimit } from '../rate-limit/limiter.ts';
import type { IdentifyClient } from './request/client-identification.ts';
import type { PublicResponse, RequestContext } from './request/context.ts';
import { type Connection, createSliceReader } from './slices.ts';

/**
 * How long a closing connection stays open for its client. If it were destroyed with unread bytes, the kernel would reset it
 * before the client has read the response.
 */
const LINGER_MS = 1_000;

/** The connections of a client with the default limit. A client with n times that limit may have n times as many. */
const CONNECTIONS_PER_CLIENT = 128;

type RequestHandler = (request: IncomingMessage, response: ServerResponse) => void;

export type Connections = ReturnType<typeof createConnections>;

/**
 * Bounds the connections of one client and the work that one connection can cause in a turn of the event loop, and closes the
 * connections of clients that keep sending after a refusal.
 *
 * A client's bytes are parsed in slices, and a slice waits until the requests before it have their responses. A trusted
 * proxy's bytes are parsed as they arrive, because slices would make a cached response a tenth slower.
 */
export function createConnections(identify: IdentifyClient, openConnections: OpenConnections, defaultLimit: RateLimit) {
  const connections = new WeakMap<Socket, Connection>();
  const readSlices = createSliceReader(openConnections);

  function connectionOf(socket: Socket): Connection {
    let connection = connections.get(socket);
    if (connection === undefined) {
      connection = { isClosing: false, bytesSinceRequest: 0 };
      connections.set(socket, connection);
    }
    return connection;
  }

  /** Closes both sides of the connection. Node would keep its own side open as long as the client does. */
  function close(socket: Socket): void {
    connectionOf(socket).isClosing = true;
    socket.end();
    const linger = setTimeout(() => socket.destroy(), LINGER_MS);
    socket.once('close', () => clearTimeout(linger));
  }

  return {
    /** For the event `connection`. */
    open(socket: Socket) {
      const { key, network, limit, isOfProxy } = identify(socket, undefined);
      // The requests of a trusted proxy come from different clients, and it does not pipeline them.
      if (isOfProxy) return openConnections.add(socket, undefined);
      openConnections.add(socket, { key, network, maxConnections: maxConnectionsOf(limit, defaultLimit) });
      readSlices(socket, connectionOf(socket), () => close(socket));
    },

    /** Returns a handler that ignores requests on a connection that is closing. */
    receive(handle: RequestHandler): RequestHandler {
      return (request, response) => {
        const connection = connectionOf(request.socket);
        openConnections.begin(request.socket, response);
        connection.bytesSinceRequest = 0;
        if (!connection.isClosing) handle(request, response);
      };
    },

    /** The response step that closes the connection after a 429, after unreadable bytes, and after a 405 while a body arrives. */
    closeAfterError({ request, client, fault }: RequestContext, response: PublicResponse): PublicResponse | undefined {
      const { socket } = request;
      const isOverLimit = response.status === 429 && !client.isOfProxy;
      const hasUnreadBody = response.status === 405 && isSendingBody(request);
      if (!isOverLimit && !hasUnreadBody && fault === undefined) return undefined;
      connectionOf(socket).isClosing = true;
      return { ...response, headers: { ...response.headers, connection: 'close' }, onSent: () => close(socket) };
    },

    /**
     * Reads nothing more, gives later requests no response, and waits until earlier ones have theirs, because bytes that are
     * written now would land inside them.
     *
     * @returns false if the connection was closing already, or has ended
     */
    async finish(socket: Socket): Promise<boolean> {
      const connection = connectionOf(socket);
      // Node also reports every packet that follows an unreadable one.
      if (connection.isClosing) return false;
      connection.isClosing = true;
      const latest = openConnections.latest(socket);
      if (latest !== undefined && !latest.closed && !socket.destroyed)
        await new Promise((resolve) => latest.once('close', resolve));
      return socket.writable;
    },

    close,
    closeIdle: openConnections.closeIdle,
    /** Whether the body of the latest request is incomplete. */
    isInBody: (socket: Socket) => openConnections.latest(socket)?.req.complete === false,
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
