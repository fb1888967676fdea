import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** Whose connection it is. */
export interface ConnectionOwner {
  /** All connections of a client have the same key. */
  readonly key: string;
  /** How many connections this client may have. */
  readonly maxConnections: number;
  /** All clients of a network have the same key. */
  readonly network: string;
}

/** Why a connection was closed: its client or its network has too many, or all places are taken. */
export type CloseReason = 'client' | 'network' | 'full';

interface OpenConnectionsOptions {
  readonly maxConnections: number;
  /** Further connections of a network are closed at once. */
  readonly maxConnectionsPerNetwork: number;
  /** Called for each connection that is closed to make room, also for one that finds none. */
  readonly onClosed: (reason: CloseReason) => void;
}

export type OpenConnections = ReturnType<typeof createOpenConnections>;

interface OpenConnection {
  readonly socket: Socket;
  readonly owner: ConnectionOwner | undefined;
  latest: ServerResponse | undefined;
}

/**
 * The connections of a listener. Some are closed so that nobody takes the places of others.
 *
 * A connection is idle while no whole request waits for its response, and once nothing more can be written to it. When all
 * places are taken, the connection that has been idle longest, by the arrival of its latest request, makes room. If no
 * connection is idle, the new one is closed.
 */
export function createOpenConnections(options: OpenConnectionsOptions) {
  const { maxConnections, maxConnectionsPerNetwork, onClosed } = options;
  /** In the order of their latest requests. */
  const all = new Map<Socket, OpenConnection>();
  const perClient = new Map<string, number>();
  const perNetwork = new Map<string, number>();

  /** Removes a connection at once, because a destroyed socket reports its end later. */
  function remove({ socket, owner }: OpenConnection): void {
    if (!all.delete(socket) || owner === undefined) return;
    count(perClient, owner.key, -1);
    count(perNetwork, owner.network, -1);
  }

  function close(entry: OpenConnection, reason: CloseReason): void {
    remove(entry);
    entry.socket.destroy();
    onClosed(reason);
  }

  function findLongestIdle(except: OpenConnection): OpenConnection | undefined {
    for (const entry of all.values()) {
      if (entry !== except && entry.owner !== undefined && isIdle(entry)) return entry;
    }
    return undefined;
  }

  return {
    /**
     * Adds a connection until it ends, or closes it at once if its client or its network has too many.
     *
     * @param owner without one, a connection only counts among all and is never closed for others
     */
    add(socket: Socket, owner: ConnectionOwner | undefined) {
      const entry: OpenConnection = { socket, owner, latest: undefined };
      all.set(socket, entry);
      socket.once('close', () => remove(entry));
      if (owner !== undefined) {
        const ofClient = count(perClient, owner.key, 1);
        const ofNetwork = count(perNetwork, owner.network, 1);
        if (ofClient > owner.maxConnections) return close(entry, 'client');
        if (ofNetwork > maxConnectionsPerNetwork) return close(entry, 'network');
      }
      if (all.size > maxConnections) close(findLongestIdle(entry) ?? entry, 'full');
    },
    /** A request has begun, which ends with its response. Ignores connections that were not added. */
    begin(socket: Socket, response: ServerResponse): void {
      const entry = all.get(socket);
      if (entry === undefined) return;
      entry.latest = response;
      all.delete(socket);
      all.set(socket, entry);
    },
    /** The response to the latest request of the connection. Responses end in the order of their requests. */
    latest: (socket: Socket) => all.get(socket)?.latest,
    /** Closes idle connections, also those with an incomplete request, but not those with unread bytes. */
    closeIdle(): void {
      for (const [socket, entry] of all) {
        // A socket that is not writable has sent its last response, and closes by itself.
        if (isIdle(entry) && socket.readableLength === 0 && socket.writable) socket.destroy();
      }
    },
    stats: () => ({ entries: all.size, maxEntries: maxConnections }),
  };
}

function isIdle({ socket, latest }: OpenConnection): boolean {
  return latest === undefined || latest.closed || !latest.req.complete || !socket.writable;
}

/** Adds to a number of connections, and forgets a number that is 0. @returns the new number */
function count(numbers: Map<string, number>, key: string, change: 1 | -1): number {
  const number = (numbers.get(key) ?? 0) + change;
  if (number === 0) numbers.delete(key);
  else numbers.set(key, number);
  return number;
}

/** For the service's own files, the private listener, encoders and outgoing connections. */
const RESERVED_FILES = 256;

/** Half of the memory is for the encoders. */
const MEMORY_SHARE = 1 / 4;
/** The most that a client makes one connection hold (measured): 64 KiB that are read, a header section and the connection's objects. */
const CONNECTION_BYTES = 128 * 1024;

/** How many connections clients may have open, so that files and memory are left for everything else. */
export function maxConnectionsFor({
  openFiles,
  memoryBytes,
}: {
  readonly openFiles: number;
  readonly memoryBytes: number;
}) {
  const files = openFiles - Math.min(RESERVED_FILES, Math.ceil(openFiles / 2));
  return Math.max(1, Math.min(files, Math.floor((memoryBytes * MEMORY_SHARE) / CONNECTION_BYTES)));
}
