import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { OpenConnections } from '../lib/http/open-connections.ts';

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
  /** Nothing more is read, and later requests get no response. */
  isClosing: boolean;
  /** The bytes that were read since the latest request. */
  bytesSinceRequest: number;
}

/**
 * Returns the function that gives the parser of a connection the next slice whenever it is idle. The slices of all connections
 * wait in one queue, first come, first served. `onBodyTooLong` is called when a body exceeds what is ignored.
 */
export function createSliceReader({ latest: findLatest }: Pick<OpenConnections, 'latest'>) {
  /** The reads of all connections. A connection has at most one. */
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

  return (socket: Socket, connection: Connection, onBodyTooLong: () => void): void => {
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
      if (connection.isClosing || socket.destroyed) return;
      const latest = findLatest(socket);
      if (latest !== undefined && !latest.closed) {
        readAfter(latest);
      } else if (latest?.req.complete === false && connection.bytesSinceRequest > MAX_IGNORED_BODY_BYTES) {
        onBodyTooLong();
      } else {
        const bytes = Math.min(SLICE_BYTES, socket.readableLength);
        connection.bytesSinceRequest += bytes;
        // `read` emits the slice as `data`, and Node's listener parses it.
        socket.read(bytes);
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

    function onReadable(): void {
      // Reading an empty buffer emits `end`, also while a response is under way.
      if (socket.readableLength === 0) socket.read();
      else readOn();
    }

    socket.on('readable', onReadable);
  };
}
