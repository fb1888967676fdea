import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/**
 * How much the parser gets at a time from a client that is no trusted proxy. Node reads 64 KiB and parses all of it in one
 * turn: 2,500 small requests, or 10,000 chunks of one byte.
 */
export const SLICE_BYTES = 512;

/** Of all clients, in a turn of the event loop. Node accepts one connection in each turn, so that turns must be short. */
const SLICES_PER_TURN = 16;

/** A body is ignored up to this size. */
const MAX_IGNORED_BODY_BYTES = 64 * 1_024;

/** Enough to recognize a URL over the limit. */
const MAX_UNREAD_CHARACTERS = 9 * 1_024;

/** What the process knows of an open connection. */
export interface Connection {
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

/** Whether the body of the latest request is incomplete. */
export function isInBody({ latest }: Connection): boolean {
  return latest?.req.complete === false;
}

interface SliceReader {
  /**
   * Gives the parser a slice whenever it has nothing to do. Clients take turns, however many connections they have.
   *
   * @param client its key
   * @param onBodyTooLong called when nothing more is read
   */
  read(socket: Socket, connection: Connection, client: string, onBodyTooLong: () => void): void;
}

export function createSliceReader(): SliceReader {
  const takeTurn = createTurns();
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
    },
  };
}

function noteSlice(connection: Connection, slice: Buffer): void {
  if (isInBody(connection)) connection.unread = '';
  else if (connection.unread.length < MAX_UNREAD_CHARACTERS) connection.unread += connection.slice;
  connection.slice = slice.toString('latin1');
  connection.bytesSinceRequest += slice.length;
}

/** @returns a function that calls `read` when it is the client's turn */
function createTurns() {
  /** By client. The one whose turn is next comes first. */
  const waiting = new Map<string, (() => void)[]>();
  let isPlanned = false;

  /** The first read of the client whose turn it is. With others left, the client goes to the end. */
  function takeNext(): (() => void) | undefined {
    const [first] = waiting;
    if (first === undefined) return undefined;
    const [client, reads] = first;
    waiting.delete(client);
    const read = reads.shift();
    if (reads.length > 0) waiting.set(client, reads);
    return read;
  }

  function takeTurns(): void {
    isPlanned = false;
    for (let slices = 0; slices < SLICES_PER_TURN; slices += 1) takeNext()?.();
    plan();
  }

  function plan(): void {
    if (isPlanned || waiting.size === 0) return;
    isPlanned = true;
    setImmediate(takeTurns);
  }

  return (client: string, read: () => void): void => {
    const reads = waiting.get(client);
    if (reads === undefined) waiting.set(client, [read]);
    else reads.push(read);
    plan();
  };
}
