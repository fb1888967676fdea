import type { AppError } from '../domain/errors.ts';
import type { Clock } from './clock.ts';
import { abortError } from './deadlines.ts';
import type { ClientKeys } from './work.ts';

interface RoundRobinOptions {
  /** Callers that may wait. */
  readonly maxLength: number;
  readonly maxWaitMs: number;
  readonly clock: Clock;
  /** Gives the turns that are free now, by `next`. Called when a caller begins to wait, and before it gives up. */
  readonly giveTurns: () => void;
  /** The error of a caller for which there is no room, or that waits too long. */
  readonly refusal: () => AppError;
}

/**
 * Callers that wait for something scarce, in a bounded queue. Networks take turns, and so do the clients of a network; the
 * calls of one client stay in order. A full queue refuses the newest call of whoever has most in it: of the client with the
 * most calls in the network with the most calls.
 */
export interface RoundRobin {
  readonly size: number;
  /**
   * Resolves when the caller has its turn.
   *
   * @throws AppError `refusal`, or that of the signal (`abortError`)
   */
  wait(client: ClientKeys, signal: AbortSignal): Promise<void>;
  /**
   * Gives the next caller its turn.
   *
   * @param mayStart false for networks whose callers go on waiting. Default: none
   * @returns the caller's client; `undefined` if there is no such caller
   */
  next(mayStart?: (network: string) => boolean): ClientKeys | undefined;
  /** Rejects all callers. */
  clear(reason: AppError): void;
}

type Turn = PromiseWithResolvers<void>;
/** The waiting calls by client, in the order of the clients' turns. */
type Clients = Map<string, Turn[]>;

export function createRoundRobin(options: RoundRobinOptions): RoundRobin {
  const { maxLength, maxWaitMs, clock, giveTurns, refusal } = options;
  /** In the order of the networks' turns. */
  const networks = new Map<string, Clients>();
  let size = 0;

  function add({ network, key }: ClientKeys, turn: Turn): void {
    const clients: Clients = networks.get(network) ?? new Map();
    const turns = clients.get(key) ?? [];
    turns.push(turn);
    clients.set(key, turns);
    networks.set(network, clients);
    size += 1;
  }

  /** False if it no longer waits. */
  function remove({ network, key }: ClientKeys, turn: Turn): boolean {
    const clients = networks.get(network);
    const turns = clients?.get(key);
    if (clients === undefined || turns === undefined || !turns.includes(turn)) return false;
    turns.splice(turns.indexOf(turn), 1);
    if (turns.length === 0) clients.delete(key);
    if (clients.size === 0) networks.delete(network);
    size -= 1;
    return true;
  }

  /** Refuses the newest call of the client with the most calls in the largest network. On a tie, the newcomer is refused. */
  function refuseOne(newcomer: ClientKeys): void {
    const network = keyOfLargest(networks, newcomer.network, lengthOf);
    const clients: Clients = networks.get(network) ?? new Map();
    const key = keyOfLargest(clients, newcomer.key, (turns) => turns.length);
    const turn = clients.get(key)?.at(-1);
    if (turn !== undefined && remove({ network, key }, turn)) turn.reject(refusal());
  }

  return {
    get size() {
      return size;
    },
    async wait(client, signal) {
      if (signal.aborted) throw abortError(signal);
      const turn: Turn = Promise.withResolvers();
      const leave = (reason: AppError) => {
        if (remove(client, turn)) turn.reject(reason);
      };
      const onAbort = () => leave(abortError(signal));
      const cancelLimit = clock.after(maxWaitMs, () => {
        giveTurns();
        leave(refusal());
      });
      signal.addEventListener('abort', onAbort, { once: true });
      try {
        add(client, turn);
        giveTurns();
        if (size > maxLength) refuseOne(client);
        await turn.promise;
      } finally {
        cancelLimit();
        signal.removeEventListener('abort', onAbort);
      }
    },
    next(mayStart = () => true) {
      for (const [network, clients] of networks) {
        const [next] = clients;
        if (next === undefined || !mayStart(network)) continue;
        const [key, [turn]] = next;
        if (turn === undefined) continue;
        moveToEnd(networks, network);
        moveToEnd(clients, key);
        remove({ network, key }, turn);
        turn.resolve();
        return { network, key };
      }
      return undefined;
    },
    clear(reason) {
      for (const clients of networks.values()) for (const turn of [...clients.values()].flat()) turn.reject(reason);
      networks.clear();
      size = 0;
    },
  };
}

function lengthOf(clients: Clients): number {
  return clients.values().reduce((sum, turns) => sum + turns.length, 0);
}

/** Of equally large groups, the preferred one, else the last one. */
function keyOfLargest<T>(groups: ReadonlyMap<string, T>, preferred: string, sizeOf: (group: T) => number): string {
  let largest = { key: '', size: 0 };
  for (const [key, group] of groups) {
    const size = sizeOf(group) + (key === preferred ? 0.5 : 0);
    if (size >= largest.size) largest = { key, size };
  }
  return largest.key;
}

function moveToEnd<T>(map: Map<string, T>, key: string): void {
  const value = map.get(key) as T;
  map.delete(key);
  map.set(key, value);
}
