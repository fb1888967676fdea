import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { ClientKeys } from '../lib/work.ts';

/**
 * How much the parser gets at a time from a client that is not a trusted proxy. Node reads 64 KiB and parses all of it in one
 * turn: 2,500 small requests, or 10,000 chunks of one byte.
 */
export const SLICE_BYTES = 512;

/** Slices of all clients in a turn of the event loop. Node accepts one connection in each turn, so turns must be short. */
const SLICES_PER_TURN = 16;

/** A body is ignored up to this size. */
const MAX_IGNORED_BODY_BYTES = 64 * 1_024;

/** Enough to recognize a URL over the limit. */
const MAX_UNREAD_CHARACTERS = 9 * 1_024;

/** The state of an open connection. */
export interface Connection {
  /** True for a trusted proxy: its requests come from different clients, and it does not pipeline them. */
  readonly isProxy: boolean;
  /** The response to the latest request. Responses end in the order of their requests. */
  latest: ServerResponse | undefined;
  /** The rate limit has refused a request. Requests that follow in the same slice are dropped. */
  isOverLimit: boolean;
  /** Nothing more is read, and later requests get no response. */
  isClosing: boolean;
  /** The slice that the parser has, one character per byte. */
  slice: string;
  /** What was read since the latest request and before that slice. Empty during a body. Only the beginning is kept. */
  unread: string;
  /** The bytes that were read since the latest request. */
  bytesSinceRequest: number;
}

/** A connection on which nothing has been read. */
export function createConnection(isProxy: boolean): Connection {
  return {
    isProxy,
    latest: undefined,
    isOverLimit: false,
    isClosing: false,
    slice: '',
    unread: '',
    bytesSinceRequest: 0,
  };
}

/** Whether the body of the latest request is incomplete. */
export function isInBody({ latest }: Connection): boolean {
  return latest?.req.complete === false;
}

interface SliceReader {
  /**
   * Gives the parser the next slice whenever it is idle. Networks take turns, however many clients they have, and in each of them
   * its clients, however many connections they have.
   *
   * @param onBodyTooLong called when a body exceeds what is ignored, instead of reading on
   */
  read(socket: Socket, connection: Connection, client: ClientKeys, onBodyTooLong: () => void): void;
}

export function createSliceReader(): SliceReader {
  const takeTurn = createRoundRobin();
  return {
    read(socket, connection, client, onBodyTooLong) {
      let isWaiting = false;

      function readOn(): void {
        if (connection.isClosing || isWaiting) return;
        isWaiting = true;
        takeTurn(client, () => {
          isWaiting = false;
          readSlice();
        });
      }

      function readSlice(): void {
        const { latest, isClosing } = connection;
        if (isClosing || socket.destroyed) return;
        if (latest !== undefined && !latest.closed) readAfter(latest);
        else if (isInBody(connection) && connection.bytesSinceRequest > MAX_IGNORED_BODY_BYTES) onBodyTooLong();
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

      /** `read` emits the slice as `data`, and Node's listener parses it. */
      function giveSlice(): void {
        socket.read(Math.min(SLICE_BYTES, socket.readableLength));
        if (socket.readableLength > 0) readOn();
      }

      function onReadable(): void {
        // Reading an empty buffer emits `end`, also while a response is under way.
        if (socket.readableLength === 0) socket.read();
        else readOn();
      }

      socket.prependListener('data', (slice: Buffer) => noteSlice(connection, slice)).on('readable', onReadable);
    },
  };
}

function noteSlice(connection: Connection, slice: Buffer): void {
  if (isInBody(connection)) connection.unread = '';
  else if (connection.unread.length < MAX_UNREAD_CHARACTERS) connection.unread += connection.slice;
  connection.slice = slice.toString('latin1');
  connection.bytesSinceRequest += slice.length;
}

/** Round robin over networks and their clients. @returns a function that calls `read` when it is the client's turn */
function createRoundRobin() {
  /** The reads of each client of each network. The network whose turn is next comes first, and in it the client. */
  const waiting = new Map<string, Map<string, (() => void)[]>>();
  let isPlanned = false;

  /** The first read of the client whose turn it is. A client with others left goes to the end, and so does its network. */
  function takeNext(): (() => void) | undefined {
    const [nextNetwork] = waiting;
    const [nextClient] = nextNetwork?.[1] ?? [];
    if (nextNetwork === undefined || nextClient === undefined) return undefined;
    const [network, clients] = nextNetwork;
    const [client, reads] = nextClient;
    waiting.delete(network);
    clients.delete(client);
    const read = reads.shift();
    if (reads.length > 0) clients.set(client, reads);
    if (clients.size > 0) waiting.set(network, clients);
    return read;
  }

  function runTurns(): void {
    isPlanned = false;
    for (let slices = 0; slices < SLICES_PER_TURN; slices += 1) takeNext()?.();
    plan();
  }

  function plan(): void {
    if (isPlanned || waiting.size === 0) return;
    isPlanned = true;
    setImmediate(runTurns);
  }

  return ({ key, network }: ClientKeys, read: () => void): void => {
    const clients = waiting.get(network) ?? new Map<string, (() => void)[]>();
    waiting.set(network, clients);
    const reads = clients.get(key);
    if (reads === undefined) clients.set(key, [read]);
    else reads.push(read);
    plan();
  };
}
