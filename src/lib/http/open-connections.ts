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

/** Why a connection was closed: its client has too many, or all places are taken. */
export type CloseReason = 'client' | 'full';

interface OpenConnectionsOptions {
  readonly maxConnections: number;
  /** Called for each connection that is closed to make room, also for one that finds none. */
  readonly onClosed: (reason: CloseReason) => void;
}

/** The connections of a listener. It closes some so that nobody takes the places of others. */
export interface OpenConnections {
  /**
   * Adds a connection until it ends, and makes room for it. Where none can be made, the connection itself is closed.
   *
   * @param owner without one, a connection only counts among all
   */
  add(socket: Socket, owner: ConnectionOwner | undefined): void;
  /** A request has begun, which ends with its response. Ignores connections that were not added. */
  begin(socket: Socket, response: ServerResponse): void;
  /** Whether a request on the connection waits for its response. */
  isBusy(socket: Socket): boolean;
  /** Closes connections without a request under way. One with an incomplete request is closed, one with unread bytes is not. */
  closeIdle(): void;
  sockets(): Iterable<Socket>;
  stats(): { readonly entries: number; readonly maxEntries: number };
}

interface OpenConnection {
  readonly socket: Socket;
  readonly owner: ConnectionOwner | undefined;
  /** Its client's and its network's. */
  groups: readonly Group[];
  /** The response to the latest request. Responses end in the order of their requests. */
  latest: ServerResponse | undefined;
}

/** In the order of their latest requests. */
type Group = Set<OpenConnection>;

/**
 * A connection is idle while no whole request waits for its response. The longest idle one, by the arrival of its latest request,
 * is closed first.
 *
 * A client with too many connections loses one of its own. When all places are taken, an idle connection of a largest network is
 * closed. If such networks have none, a new connection of a smaller network closes the one with their oldest request, and any
 * other new connection is closed itself.
 */
export function createOpenConnections({ maxConnections, onClosed }: OpenConnectionsOptions): OpenConnections {
  const all = new Map<Socket, OpenConnection>();
  const clients = new Map<string, Group>();
  const networks = new Map<string, Group>();

  /** At once, because a destroyed socket reports its end later. */
  function remove(entry: OpenConnection): void {
    if (!all.delete(entry.socket) || entry.owner === undefined) return;
    leave(clients, entry.owner.key, entry);
    leave(networks, entry.owner.network, entry);
  }

  function close(entry: OpenConnection, reason: CloseReason): void {
    remove(entry);
    entry.socket.destroy();
    onClosed(reason);
  }

  /** The connection that makes room for the newcomer: the newcomer itself if no other one should be closed. */
  function chooseToClose(newcomer: OpenConnection): OpenConnection {
    const largest = largestNetworks();
    for (const network of largest) {
      const idle = findIdle(network, newcomer);
      if (idle !== undefined) return idle;
    }
    const isSmaller = newcomer.owner !== undefined && !largest.some((network) => network.has(newcomer));
    const [oldestRequest] = isSmaller ? (largest[0] ?? []) : [];
    return oldestRequest ?? newcomer;
  }

  /** The networks that have most connections. */
  function largestNetworks(): Group[] {
    let most = 0;
    for (const { size } of networks.values()) most = Math.max(most, size);
    return [...networks.values()].filter(({ size }) => size === most);
  }

  /** Adds the connection to its client and its network. @returns the connections of the client */
  function joinGroups(entry: OpenConnection, { key, network }: ConnectionOwner): Group {
    const client = join(clients, key, entry);
    entry.groups = [client, join(networks, network, entry)];
    return client;
  }

  return {
    add(socket, owner) {
      const entry: OpenConnection = { socket, owner, groups: [], latest: undefined };
      all.set(socket, entry);
      socket.once('close', () => remove(entry));
      if (owner !== undefined) {
        const client = joinGroups(entry, owner);
        if (client.size > owner.maxConnections) close(findIdle(client, entry) ?? entry, 'client');
      }
      if (all.size > maxConnections) close(chooseToClose(entry), 'full');
    },
    begin(socket, response) {
      const entry = all.get(socket);
      if (entry === undefined) return;
      entry.latest = response;
      for (const group of entry.groups) moveToEnd(group, entry);
    },
    isBusy(socket) {
      const entry = all.get(socket);
      return entry !== undefined && !isIdle(entry);
    },
    closeIdle() {
      for (const [socket, entry] of all) {
        // Those that are not writable have sent their last response, and close by themselves.
        if (isIdle(entry) && socket.readableLength === 0 && socket.writable) socket.destroy();
      }
    },
    sockets: () => all.keys(),
    stats: () => ({ entries: all.size, maxEntries: maxConnections }),
  };
}

function isIdle({ latest }: OpenConnection): boolean {
  return latest === undefined || latest.closed || !latest.req.complete;
}

function findIdle(group: Group, except: OpenConnection): OpenConnection | undefined {
  for (const entry of group) if (entry !== except && isIdle(entry)) return entry;
  return undefined;
}

function join(groups: Map<string, Group>, key: string, entry: OpenConnection): Group {
  const group = groups.get(key) ?? new Set();
  groups.set(key, group.add(entry));
  return group;
}

function leave(groups: Map<string, Group>, key: string, entry: OpenConnection): void {
  const group = groups.get(key);
  group?.delete(entry);
  if (group?.size === 0) groups.delete(key);
}

function moveToEnd(group: Group, entry: OpenConnection): void {
  // Most groups have one member.
  if (group.size === 1) return;
  group.delete(entry);
  group.add(entry);
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
