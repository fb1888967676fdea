import { LRUCache } from 'lru-cache';
import type { Clock } from './clock.ts';
import type { HolderStats } from './holders.ts';
import { compactCopy, entryLimit } from './memory-cache.ts';
import type { ClientKeys } from './work.ts';

interface FairQueueOptions {
  readonly maxLength: number;
  readonly clock: Clock;
}

/**
 * A bounded queue that is fair by network, by client and by cost. The next item is one of the network for which the cost of
 * the last minute and of the item together is least, and in the network, one of the client for which they are least. So a
 * network or client that has used little comes first, and an item that costs little does not wait for expensive ones.
 *
 * The unit of cost is the caller's. What an item is expected to cost counts as used when it leaves the queue by `next`, and
 * `charge` corrects it when the cost is known.
 */
export interface FairQueue<T> {
  readonly size: number;
  /**
   * Adds the item. In a full queue it displaces the newest item of the heaviest client in the heaviest network: the ones that have
   * used and ask for most. If no other network is heavier than this one with the new item, it displaces an item of the heaviest
   * client in its own network. If no other client there is heavier than this one with the new item, it is not added.
   *
   * @returns `isAdded`: false if the queue is full and nothing was displaced
   */
  add(client: ClientKeys, item: T, expectedCost: number): { readonly isAdded: boolean; readonly displaced?: T };
  /** Whether `next` would return an item. */
  hasNext(mayTake?: (client: ClientKeys) => boolean): boolean;
  /**
   * Takes the next item, and charges its client the expected cost. Ties go by order of arrival.
   *
   * @param mayTake false for clients whose items stay. Default: all may be taken
   */
  next(mayTake?: (client: ClientKeys) => boolean): T | undefined;
  /** Adds to what the client has used, or subtracts from it. */
  charge(client: ClientKeys, cost: number): void;
  /** Does nothing if the item is not in the queue. */
  remove(item: T): void;
  /** Empties the queue. */
  drain(): T[];
  /** The networks and clients whose use is remembered. */
  clients(): HolderStats;
}

/** A cost is forgotten gradually: after this time, about a third of it still counts. */
const MEMORY_MS = 60_000;
/** More networks, and more clients, than can have cost much within `MEMORY_MS`. */
const MAX_KEYS = 5_000;

interface Waiting<T> {
  readonly client: ClientKeys;
  readonly item: T;
  readonly cost: number;
}

type Level = keyof ClientKeys;

export function createFairQueue<T>({ maxLength, clock }: FairQueueOptions): FairQueue<T> {
  /** In order of arrival. */
  let waiting: Waiting<T>[] = [];
  const used: Record<Level, Usage> = { network: createUsage(clock), key: createUsage(clock) };

  function charge(client: ClientKeys, cost: number): void {
    used.network.add(client.network, cost);
    used.key.add(client.key, cost);
  }

  function take(index: number): Waiting<T> | undefined {
    const [taken] = waiting.splice(index, 1);
    return taken;
  }

  /** The next item of each network: its place, its cost, and what its client has used and asks for. */
  function nextOfNetworks(mayTake: (client: ClientKeys) => boolean) {
    const nextOf = new Map<string, { readonly index: number; readonly cost: number; readonly sum: number }>();
    const seen = new Set<string>();
    for (const [index, { client, cost }] of waiting.entries()) {
      // The items of one client stay in order.
      if (seen.has(client.key) || !mayTake(client)) continue;
      seen.add(client.key);
      const sum = used.key.of(client.key) + cost;
      const best = nextOf.get(client.network);
      if (best === undefined || sum < best.sum) nextOf.set(client.network, { index, cost, sum });
    }
    return nextOf;
  }

  /** The owner of these items that has used and asks for most, if that is more than `sum`. */
  function findHeaviest(items: readonly Waiting<T>[], level: Level, sum: number): string | undefined {
    const sumOf = new Map<string, number>();
    for (const { client, cost } of items) {
      const owner = client[level];
      sumOf.set(owner, (sumOf.get(owner) ?? used[level].of(owner)) + cost);
    }
    const [most] = [...sumOf].sort(([, one], [, other]) => other - one);
    return most !== undefined && most[1] > sum ? most[0] : undefined;
  }

  function sumWith(newcomer: ClientKeys, level: Level, newCost: number): number {
    const own = waiting.filter(({ client }) => client[level] === newcomer[level]);
    return own.reduce((sum, { cost }) => sum + cost, used[level].of(newcomer[level]) + newCost);
  }

  function displaceFor(newcomer: ClientKeys, cost: number): Waiting<T> | undefined {
    const heavier = findHeaviest(waiting, 'network', sumWith(newcomer, 'network', cost));
    const items = waiting.filter(({ client }) => client.network === (heavier ?? newcomer.network));
    const least = heavier === undefined ? sumWith(newcomer, 'key', cost) : Number.NEGATIVE_INFINITY;
    const owner = findHeaviest(items, 'key', least);
    return owner === undefined ? undefined : take(waiting.findLastIndex(({ client }) => client.key === owner));
  }

  return {
    get size() {
      return waiting.length;
    },
    add(client, item, cost) {
      const displaced = waiting.length >= maxLength ? displaceFor(client, cost) : undefined;
      if (waiting.length >= maxLength) return { isAdded: false };
      waiting.push({ client, item, cost });
      return displaced === undefined ? { isAdded: true } : { isAdded: true, displaced: displaced.item };
    },
    hasNext: (mayTake = () => true) => waiting.some(({ client }) => mayTake(client)),
    next(mayTake = () => true) {
      let least = { index: -1, sum: Number.POSITIVE_INFINITY };
      for (const [network, { index, cost }] of nextOfNetworks(mayTake)) {
        const sum = used.network.of(network) + cost;
        if (sum < least.sum) least = { index, sum };
      }
      const next = least.index === -1 ? undefined : take(least.index);
      if (next === undefined) return undefined;
      charge(next.client, next.cost);
      return next.item;
    },
    charge,
    remove(item) {
      waiting = waiting.filter((other) => other.item !== item);
    },
    drain: () => waiting.splice(0).map(({ item }) => item),
    clients: () => ({ entries: used.network.size() + used.key.size(), maxEntries: 2 * MAX_KEYS }),
  };
}

type Usage = ReturnType<typeof createUsage>;

/** What each owner has used lately. */
function createUsage(clock: Clock) {
  const used = new LRUCache<string, { readonly cost: number; readonly atMs: number }>(entryLimit(MAX_KEYS));

  function usedBy(owner: string): number {
    const last = used.get(owner);
    return last === undefined ? 0 : last.cost * Math.exp((last.atMs - clock.monotonic()) / MEMORY_MS);
  }

  return {
    of: usedBy,
    add(owner: string, cost: number): void {
      used.set(compactCopy(owner), { cost: Math.max(0, usedBy(owner) + cost), atMs: clock.monotonic() });
    },
    size: () => used.size,
  };
}
