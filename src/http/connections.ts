import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { errorCodeOf } from '../domain/errors.ts';
import type { HolderStats } from '../lib/holders.ts';
import type { OpenConnections } from '../lib/http/open-connections.ts';
import type { ClientLimit, RateLimit } from '../rate-limit/limiter.ts';
import type { Client, ClientIdentification } from './request/client.ts';
import type { HttpResponse, RequestContext } from './request/context.ts';

/**
 * How much the parser gets at a time from a client that is no trusted proxy. Node reads 64 KiB and parses all of it in one
 * turn: 2,500 small requests, or 10,000 chunks of one byte.
 */
export const SLICE_BYTES = 512;

/** Of all clients, in a turn of the event loop. Node accepts one connection in each turn, so that turns must be short. */
const SLICES_PER_TURN = 16;

/** A body is ignored up to this size. */
const MAX_IGNORED_BODY_BYTES = 64 * 1_024;

/** With unread bytes, the kernel would reset the connection before the client has read the response. */
const LINGER_MS = 1_000;

/** Enough to recognize a URL over the limit. */
const MAX_UNREAD_CHARACTERS = 9 * 1_024;

/** Of a client with the default limit. One with a higher limit may have as many times more. */
const CONNECTIONS_PER_CLIENT = 128;

/** Node reads at most this much at a time, and nothing more before all of it has been parsed. */
const READ_BYTES = 64 * 1_024;

/** A longer header section is refused. */
export const MAX_HEADER_BYTES = 24 * 1_024;

/** What the process knows of an open connection. */
interface Connection {
  /** Its requests come from different clients, one after the other's response: proxies do not pipeline. */
  readonly isProxy: boolean;
  /** The response to the latest request. Responses end in the order of their requests. */
  latest: ServerResponse | undefined;
  /** The rate limit has refused a request. Those that follow in the same slice are dropped. */
  isOverLimit: boolean;
  /** Nothing more is read or responded. */
  isClosing: boolean;
  /** The slice that the parser has, one character per byte. */
  slice: string;
  /** What was read before that slice since the latest request, if its end is known. Only the beginning. */
  unread: string;
  /** Read since the latest request. */
  bytesSinceRequest: number;
}

type RequestHandler = (request: IncomingMessage, response: ServerResponse) => void;
type Step = (context: RequestContext) => undefined | Promise<undefined>;

export type Connections = ReturnType<typeof createConnections>;

interface ConnectionsOptions {
  readonly clients: Pick<ClientIdentification, 'identify' | 'isTrustedProxy'>;
  readonly openConnections: OpenConnections;
  readonly defaultLimit: RateLimit;
}

/**
 * Bounds the connections of one client and the work that one connection can cause in a turn of the event loop, and closes the
 * connections of clients that send on after a refusal.
 *
 * A client's bytes are parsed in slices, and a slice waits until the requests before it have their responses. A trusted
 * proxy's bytes are parsed as they come, because slices cost a tenth of a hot response.
 */
export function createConnections({ clients, openConnections, defaultLimit }: ConnectionsOptions) {
  const connections = new WeakMap<Socket, Connection>();

  const clientOf = (socket: Socket) => clients.identify(socket.remoteAddress ?? '', undefined);

  function connectionOf(socket: Socket): Connection {
    let connection = connections.get(socket);
    if (connection === undefined) {
      connection = {
        isProxy: clients.isTrustedProxy(socket.remoteAddress ?? ''),
        latest: undefined,
        isOverLimit: false,
        isClosing: false,
        slice: '',
        unread: '',
        bytesSinceRequest: 0,
      };
      connections.set(socket, connection);
    }
    return connection;
  }

  /** Rejects when the slice has been parsed: only then is it known whether the client has sent more. */
  function refuse(context: RequestContext, error: unknown): Promise<never> {
    const connection = connectionOf(context.request.socket);
    context.isRefused = true;
    if (errorCodeOf(error) === 'rate_limited' && !connection.isProxy) connection.isOverLimit = true;
    return Promise.reject(error);
  }

  function stopReading(socket: Socket): void {
    const connection = connectionOf(socket);
    if (connection.isClosing) return;
    connection.isClosing = true;
    if (connection.isProxy) readInSlices(socket, connection, clientOf(socket));
  }

  /** Closes both sides. Node would keep its own side open as long as the client does. */
  function close(socket: Socket, text?: string): void {
    stopReading(socket);
    if (text === undefined) socket.end();
    else socket.end(text);
    const linger = setTimeout(() => socket.destroy(), LINGER_MS);
    socket.once('close', () => clearTimeout(linger));
  }

  /** Connections with a slice to read, by client. The client whose turn is next comes first. */
  const waiting = new Map<string, (() => void)[]>();
  let isTurnPlanned = false;

  /** Clients take turns, whatever the number of their connections is. */
  function takeTurns(): void {
    isTurnPlanned = false;
    for (let slices = 0; slices < SLICES_PER_TURN; slices += 1) {
      const [first] = waiting;
      if (first === undefined) return;
      const [key, reads] = first;
      waiting.delete(key);
      const read = reads.shift();
      if (reads.length > 0) waiting.set(key, reads);
      read?.();
    }
    planTurn();
  }

  function planTurn(): void {
    if (isTurnPlanned || waiting.size === 0) return;
    isTurnPlanned = true;
    setImmediate(takeTurns);
  }

  function waitForTurn(key: string, read: () => void): void {
    const reads = waiting.get(key);
    if (reads === undefined) waiting.set(key, [read]);
    else reads.push(read);
    planTurn();
  }

  /** Gives the parser a slice whenever it has nothing to do. `read` passes what it returns to Node's listener for data. */
  function readInSlices(socket: Socket, connection: Connection, { key }: Pick<Client, 'key'>): void {
    let isWaiting = false;
    const readOn = () => {
      if (connection.isClosing || isWaiting) return;
      isWaiting = true;
      waitForTurn(key, readSlice);
    };
    const readSlice = () => {
      isWaiting = false;
      const { latest, isClosing, bytesSinceRequest } = connection;
      if (isClosing || socket.destroyed) return;
      if (latest !== undefined && !latest.closed) {
        isWaiting = true;
        latest.once('close', () => {
          isWaiting = false;
          readOn();
        });
      } else if (bytesSinceRequest > MAX_IGNORED_BODY_BYTES && latest?.req.complete === false) {
        close(socket);
      } else {
        socket.read(Math.min(SLICE_BYTES, socket.readableLength));
        if (socket.readableLength > 0) readOn();
      }
    };
    const onReadable = () => {
      // Reading reports the end of the stream, also while a response is under way.
      if (socket.readableLength === 0) socket.read();
      else readOn();
    };
    const onSlice = (slice: Buffer) => {
      const isInBody = connection.latest?.req.complete === false;
      if (isInBody) connection.unread = '';
      else if (connection.unread.length < MAX_UNREAD_CHARACTERS) connection.unread += connection.slice;
      connection.slice = slice.toString('latin1');
      connection.bytesSinceRequest += slice.length;
    };
    socket.prependListener('data', onSlice).on('readable', onReadable);
  }

  return {
    /** For `connection`. */
    open(socket: Socket): void {
      const connection = connectionOf(socket);
      const client = clientOf(socket);
      const { key, network, limit } = client;
      const owner = { key, network, maxConnections: maxConnectionsOf(limit, defaultLimit) };
      openConnections.add(socket, connection.isProxy ? undefined : owner);
      if (!connection.isProxy) readInSlices(socket, connection, client);
    },

    /** Passes requests on, except those after the one with which the connection ends. */
    receive(handle: RequestHandler): RequestHandler {
      return (request, response) => {
        const connection = connectionOf(request.socket);
        const isLast = connection.isClosing || connection.isOverLimit;
        connection.latest = response;
        openConnections.begin(request.socket, response);
        connection.bytesSinceRequest = 0;
        connection.unread = '';
        if (!isLast) handle(request, response);
      };
    },

    /** A step that refuses requests whatever they ask for. */
    refusing(step: Step): Step {
      return (context) => {
        try {
          return step(context)?.catch((error: unknown) => refuse(context, error));
        } catch (error) {
          return refuse(context, error);
        }
      };
    },

    /** The response to a refused request closes the connection if its client has sent on. */
    closeAfterRefusal(context: RequestContext, refusal: HttpResponse): HttpResponse | undefined {
      if (!context.isRefused) return undefined;
      const { request, response } = context;
      const { socket } = request;
      const connection = connectionOf(socket);
      const isPipelining = connection.latest !== response || socket.readableLength > 0;
      if (!isSendingBody(request) && !(connection.isOverLimit && isPipelining)) {
        connection.isOverLimit = false;
        return undefined;
      }
      stopReading(socket);
      return { ...refusal, headers: { ...refusal.headers, connection: 'close' }, onSent: () => close(socket) };
    },

    close,

    /** The slice that the parser has, one character per byte. `undefined` for a proxy. */
    sliceOf(socket: Socket): string | undefined {
      const { isProxy, slice } = connectionOf(socket);
      return isProxy ? undefined : slice;
    },

    /** What was read before that slice and belongs to no request yet, one character per byte. */
    unreadBefore: (socket: Socket): string => connectionOf(socket).unread,

    /** Whether the body of the latest request is incomplete. */
    isInBody: (socket: Socket): boolean => connectionOf(socket).latest?.req.complete === false,

    /** Waits until earlier requests have their responses. More bytes would be written into them. */
    async responsesEnd(socket: Socket): Promise<void> {
      const { latest } = connectionOf(socket);
      if (latest !== undefined && !latest.closed && !socket.destroyed)
        await new Promise((resolve) => latest.once('close', resolve));
    },

    /** What clients have sent and what is no request yet. */
    stats(): HolderStats {
      let bytes = 0;
      for (const socket of openConnections.sockets()) {
        const { latest, bytesSinceRequest } = connectionOf(socket);
        const isInBody = latest?.req.complete === false;
        bytes += socket.readableLength + (isInBody ? 0 : Math.min(bytesSinceRequest, MAX_HEADER_BYTES));
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
