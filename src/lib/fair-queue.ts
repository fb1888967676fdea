import { LRUCache } from 'lru-cache';
import type { Clock } from './clock.ts';
import type { HolderStats } from './holders.ts';
import { compactCopy } from './memory-cache.ts';

export type FairQueue<T> = ReturnType<typeof createFairQueue<T>>;

export interface FairQueueOptions {
  readonly maxLength: number;
  readonly clock: Clock;
}

/** A cost is forgotten gradually: after this time, about a third of it still counts. */
const MEMORY_MS = 60_000;
/** More clients than can have cost much within `MEMORY_MS`. */
const MAX_CLIENTS = 5_000;

interface Waiting<T> {
  readonly client: string;
  readonly item: T;
  readonly cost: number;
}

interface Used {
  readonly cost: number;
  readonly atMs: number;
}

/**
 * A bounded queue that is fair by client and by cost. The next item is that of the client for which the cost of the last
 * minute and of this item together is least. So a client that has used little comes first, and an item that costs little
 * does not wait for expensive ones.
 *
 * The unit of cost is the caller's. What an item is expected to cost counts as used when it leaves the queue by `next`, and
 * `charge` corrects it when the cost is known.
 */
export function createFairQueue<T>({ maxLength, clock }: FairQueueOptions) {
  /** In order of arrival. */
  let waiting: Waiting<T>[] = [];
  const used = new LRUCache<string, Used>({ max: MAX_CLIENTS });

  function usedBy(client: string): number {
    const last = used.get(client);
    return last === undefined ? 0 : last.cost * Math.exp((last.atMs - clock.monotonic()) / MEMORY_MS);
  }

  function charge(client: string, cost: number): void {
    used.set(compactCopy(client), { cost: Math.max(0, usedBy(client) + cost), atMs: clock.monotonic() });
  }

  /** What each waiting client has used and asks for. */
  function sums(): Map<string, number> {
    const sumOf = new Map<string, number>();
    for (const { client, cost } of waiting) sumOf.set(client, (sumOf.get(client) ?? usedBy(client)) + cost);
    return sumOf;
  }

  function take(index: number): Waiting<T> | undefined {
    const [taken] = waiting.splice(index, 1);
    return taken;
  }

  /** The newest item of the client that has used and asks for most, if that is more than the newcomer with its new item. */
  function displaceFor(newcomer: string, cost: number): Waiting<T> | undefined {
    const sumOf = sums();
    const own = (sumOf.get(newcomer) ?? usedBy(newcomer)) + cost;
    const [most] = [...sumOf].sort(([, one], [, other]) => other - one);
    if (most === undefined || most[1] <= own) return undefined;
    return take(waiting.findLastIndex(({ client }) => client === most[0]));
  }

  return {
    get size() {
      return waiting.length;
    },
    /**
     * Adds the item. In a full queue it displaces the newest item of the client that has used and asks for most, if this
     * client with its new item has used and asks for less.
     *
     * @returns `isAdded`: false if the queue is full and nothing was displaced
     */
    add(client: string, item: T, expectedCost: number): { readonly isAdded: boolean; readonly displaced?: T } {
      const displaced = waiting.length >= maxLength ? displaceFor(client, expectedCost) : undefined;
      if (waiting.length >= maxLength) return { isAdded: false };
      waiting.push({ client, item, cost: expectedCost });
      return displaced === undefined ? { isAdded: true } : { isAdded: true, displaced: displaced.item };
    },
    /** Takes the next item, and charges its client the expected cost. Ties go by order of arrival. */
    next(): T | undefined {
      const seen = new Set<string>();
      let least = { index: -1, sum: Number.POSITIVE_INFINITY };
      for (const [index, { client, cost }] of waiting.entries()) {
        // The items of one client stay in order.
        if (seen.has(client)) continue;
        seen.add(client);
        const sum = usedBy(client) + cost;
        if (sum < least.sum) least = { index, sum };
      }
      const next = take(least.index);
      if (next === undefined) return undefined;
      charge(next.client, next.cost);
      return next.item;
    },
    /** Adds to what the client has used, or subtracts from it. */
    charge,
    /** Does nothing if the item is not in the queue. */
    remove(item: T): void {
      waiting = waiting.filter((other) => other.item !== item);
    },
    /** Empties the queue. */
    drain(): T[] {
      return waiting.splice(0).map(({ item }) => item);
    },
    /** The clients whose use is remembered. */
    clients: (): HolderStats => ({ entries: used.size, maxEntries: MAX_CLIENTS }),
  };
}
