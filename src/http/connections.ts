import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { errorCodeOf } from '../domain/errors.ts';
import type { HolderStats } from '../lib/holders.ts';
import type { OpenConnections } from '../lib/http/open-connections.ts';
import type { ClientLimit, RateLimit } from '../rate-limit/limiter.ts';
import { createParserTurns } from './parser-turns.ts';
import type { Client, ClientIdentification } from './request/client-identification.ts';
import type { PublicResponse, RequestContext } from './request/context.ts';

/**
 * How much the parser gets at a time from a client that is no trusted proxy. Node reads 64 KiB and parses all of it in one
 * turn: 2,500 small requests, or 10,000 chunks of one byte.
 */
export const SLICE_BYTES = 512;

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

/**
 * Bounds the connections of one client and the work that one connection can cause in a turn of the event loop, and closes the
 * connections of clients that send on after a refusal.
 */
export interface Connections {
  /** For the event `connection`. */
  open(socket: Socket): void;
  /** Passes requests on, except those after the one with which the connection ends. */
  receive(handle: RequestHandler): RequestHandler;
  /** A step that refuses requests whatever they ask for. */
  refusing(step: Step): Step;
  /** The step for responses that closes the connection of a refused request if its client has sent on. */
  closeAfterRefusal(context: RequestContext, refusal: PublicResponse): PublicResponse | undefined;
  /** Closes both sides. Node would keep its own side open as long as the client does. @param text the last response */
  close(socket: Socket, text?: string): void;
  closeIdle: OpenConnections['closeIdle'];
  /** The slice that the parser has, one character per byte. `undefined` for a proxy. */
  sliceOf(socket: Socket): string | undefined;
  /** What was read before that slice and belongs to no request yet, one character per byte. */
  unreadBefore(socket: Socket): string;
  /** Whether the body of the latest request is incomplete. */
  isInBody(socket: Socket): boolean;
  /** Waits until earlier requests have their responses. More bytes would be written into them. */
  responsesEnd(socket: Socket): Promise<void>;
  /** What clients have sent and what is no request yet. */
  stats(): HolderStats;
}

interface ConnectionsOptions {
  readonly clients: Pick<ClientIdentification, 'identify' | 'isTrustedProxy'>;
  readonly openConnections: OpenConnections;
  readonly defaultLimit: RateLimit;
}

/**
 * A client's bytes are parsed in slices, and a slice waits until the requests before it have their responses. A trusted
 * proxy's bytes are parsed as they come, because slices cost a tenth of a hot response.
 */
export function createConnections({ clients, openConnections, defaultLimit }: ConnectionsOptions): Connections {
  const connections = new WeakMap<Socket, Connection>();
  const turns = createParserTurns();

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

  /** Gives the parser a slice whenever it has nothing to do. */
  function readInSlices(socket: Socket, connection: Connection, { key }: Pick<Client, 'key'>): void {
    let isWaiting = false;

    function readOn(): void {
      if (connection.isClosing || isWaiting) return;
      isWaiting = true;
      turns.wait(key, () => {
        isWaiting = false;
        readSlice();
      });
    }

    function readSlice(): void {
      const { latest, isClosing } = connection;
      if (isClosing || socket.destroyed) return;
      if (latest !== undefined && !latest.closed) readAfter(latest);
      else if (isBodyTooLong(connection)) close(socket);
      else giveSlice();
    }

    /** A slice waits until the requests before it have their responses. */
    function readAfter(response: ServerResponse): void {
      isWaiting = true;
      response.once('close', () => {
        isWaiting = false;
        readOn();
      });
    }

    /** `read` passes what it returns to Node's listener for data, which parses it. */
    function giveSlice(): void {
      socket.read(Math.min(SLICE_BYTES, socket.readableLength));
      if (socket.readableLength > 0) readOn();
    }

    function onReadable(): void {
      // Reading reports the end of the stream, also while a response is under way.
      if (socket.readableLength === 0) socket.read();
      else readOn();
    }

    socket.prependListener('data', (slice: Buffer) => noteSlice(connection, slice)).on('readable', onReadable);
  }

  return {
    open(socket) {
      const connection = connectionOf(socket);
      const client = clientOf(socket);
      const { key, network, limit } = client;
      const owner = { key, network, maxConnections: maxConnectionsOf(limit, defaultLimit) };
      openConnections.add(socket, connection.isProxy ? undefined : owner);
      if (!connection.isProxy) readInSlices(socket, connection, client);
    },

    receive(handle) {
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

    refusing(step) {
      return (context) => {
        try {
          return step(context)?.catch((error: unknown) => refuse(context, error));
        } catch (error) {
          return refuse(context, error);
        }
      };
    },

    closeAfterRefusal(context, refusal) {
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

    closeIdle: openConnections.closeIdle,

    sliceOf(socket) {
      const { isProxy, slice } = connectionOf(socket);
      return isProxy ? undefined : slice;
    },

    unreadBefore: (socket) => connectionOf(socket).unread,

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

/** Whether the body of the latest request is incomplete. */
function isInBody({ latest }: Connection): boolean {
  return latest?.req.complete === false;
}

function isBodyTooLong(connection: Connection): boolean {
  return isInBody(connection) && connection.bytesSinceRequest > MAX_IGNORED_BODY_BYTES;
}

function noteSlice(connection: Connection, slice: Buffer): void {
  if (isInBody(connection)) connection.unread = '';
  else if (connection.unread.length < MAX_UNREAD_CHARACTERS) connection.unread += connection.slice;
  connection.slice = slice.toString('latin1');
  connection.bytesSinceRequest += slice.length;
}

function maxConnectionsOf(limit: ClientLimit, defaultLimit: RateLimit): number {
  if (limit === 'unlimited') return Number.POSITIVE_INFINITY;
  const rateOf = ({ requests, windowMs }: RateLimit) => requests / windowMs;
  return Math.ceil(CONNECTIONS_PER_CLIENT * Math.max(1, rateOf(limit) / rateOf(defaultLimit)));
}

function isSendingBody({ headers, complete }: IncomingMessage): boolean {
  return !complete && (headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined);
}
