import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/**
 * How much the parser gets at a time from a client that is not a trusted proxy. Node reads 64 KiB and parses all of it in one
 * turn: 2,500 small requests, or 10,000 chunks of one byte.
 */
export const SLICE_BYTES = 512;

/** Slices of all clients in a turn of the event loop. Node accepts one connection in each turn, so turns must be short. */
const SLICES_PER_TURN = 16;

/** A body is ignored up to this size. */
const MAX_IGNORED_BODY_BYTES = 64 * 1_024;

/** The state of an open connection. */
export interface Connection {
  /** True for a trusted proxy: its requests come from different clients, and it does not pipeline them. */
  readonly isProxy: boolean;
  /** The response to the latest request. Responses end in the order of their requests. */
  latest: ServerResponse | undefined;
  /** Nothing more is read, and later requests get no response. */
  isClosing: boolean;
  /** The slice that the parser has, one character per byte. */
  slice: string;
  /** The bytes that were read since the latest request. */
  bytesSinceRequest: number;
}

/** A connection on which nothing has been read. */
export function createConnection(isProxy: boolean): Connection {
  return {
    isProxy,
    latest: undefined,
    isClosing: false,
    slice: '',
    bytesSinceRequest: 0,
  };
}

/** Whether the body of the latest request is incomplete. */
export function isInBody({ latest }: Connection): boolean {
  return latest?.req.complete === false;
}

interface SliceReader {
  /**
   * Gives the parser the next slice whenever it is idle. The slices of all connections wait in one queue, first come, first served.
   *
   * @param onBodyTooLong called when a body exceeds what is ignored, instead of reading on
   */
  read(socket: Socket, connection: Connection, onBodyTooLong: () => void): void;
}

export function createSliceReader(): SliceReader {
  /** The reads of all connections, first come, first served. A connection has at most one. */
  const queue = new Set<() => void>();
  let isPlanned = false;

  function runReads(): void {
    let count = 0;
    for (const read of queue) {
      if (count === SLICES_PER_TURN) break;
      count += 1;
      queue.delete(read);
      read();
    }
    isPlanned = queue.size > 0;
    if (isPlanned) setImmediate(runReads);
  }

  return {
    read(socket, connection, onBodyTooLong) {
      let isWaiting = false;

      function readOn(): void {
        if (connection.isClosing || isWaiting) return;
        isWaiting = true;
        queue.add(readSlice);
        if (!isPlanned) setImmediate(runReads);
        isPlanned = true;
      }

      function readSlice(): void {
        isWaiting = false;
        const { latest, isClosing } = connection;
        if (isClosing || socket.destroyed) return;
        if (latest !== undefined && !latest.closed) {
          readAfter(latest);
        } else if (isInBody(connection) && connection.bytesSinceRequest > MAX_IGNORED_BODY_BYTES) {
          onBodyTooLong();
        } else {
          // `read` emits the slice as `data`, and Node's listener parses it.
          socket.read(Math.min(SLICE_BYTES, socket.readableLength));
          if (socket.readableLength > 0) readOn();
        }
      }

      /** A slice waits until the requests before it have their responses. */
      function readAfter(response: ServerResponse): void {
        isWaiting = true;
        response.once('close', () => {
          isWaiting = false;
          readOn();
        });
      }

      function noteSlice(slice: Buffer): void {
        connection.slice = slice.toString('latin1');
        connection.bytesSinceRequest += slice.length;
      }

      function onReadable(): void {
        // Reading an empty buffer emits `end`, also while a response is under way.
        if (socket.readableLength === 0) socket.read();
        else readOn();
      }

      socket.prependListener('data', noteSlice).on('readable', onReadable);
    },
  };
}
