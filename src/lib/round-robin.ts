import type { AppError } from '../domain/errors.ts';
import type { Clock } from './clock.ts';
import { abortError } from './deadlines.ts';
import type { ClientKeys } from './work.ts';

interface RoundRobinOptions {
  readonly maxWaitMs: number;
  readonly clock: Clock;
  /** The error of an item for which there is no room, or that waits too long. */
  readonly refusal: () => AppError;
}

interface Item {
  readonly client: ClientKeys;
}

/**
 * Items that wait until somebody takes them. Networks take turns, and so do the clients of a network; the items of one client
 * stay in order. If there are too many, the newest item of whoever has most goes: of the client with the most items in the
 * network with the most items.
 */
export interface RoundRobin<T extends Item> {
  readonly size: number;
  /**
   * Resolves when the item is taken.
   *
   * @param maxLength how many items may wait, with this one
   * @throws AppError `refusal`, or that of the signal (`abortError`), for an item that nobody takes
   */
  wait(item: T, signal: AbortSignal, maxLength: number): Promise<void>;
  /**
   * Takes the next item, or waits for one. Of those who wait, the last one gets it, so that the first ones may rest.
   *
   * @param isWanted false for items that go on waiting. Default: none
   */
  take(isWanted?: (item: T) => boolean): Promise<T>;
  /** The turn of a client and its network is over. A turn that takes long ends twice: when its item is taken, and by this call. */
  endTurn(client: ClientKeys): void;
  /** Rejects all items, also later ones. */
  close(reason: AppError): void;
}

interface Entry<T> extends PromiseWithResolvers<void> {
  readonly item: T;
  /** The lowest number is next: the network’s, then the client’s. */
  networkTurn: number;
  clientTurn: number;
}

interface Taker<T> extends PromiseWithResolvers<T> {
  readonly isWanted: (item: T) => boolean;
}

export function createRoundRobin<T extends Item>(options: RoundRobinOptions): RoundRobin<T> {
  const { maxWaitMs, clock, refusal } = options;
  /** In the order of their arrival. */
  const waiting: Entry<T>[] = [];
  /** None of them wants an item that waits. */
  const takers: Taker<T>[] = [];
  let lastTurn = 0;
  let closedWith: AppError | undefined;

  const ofNetwork = ({ network }: ClientKeys) => waiting.filter(({ item }) => item.client.network === network);
  const ofClient = ({ key }: ClientKeys) => waiting.filter(({ item }) => item.client.key === key);

  function add(item: T): Entry<T> {
    lastTurn += 1;
    const networkTurn = ofNetwork(item.client)[0]?.networkTurn ?? lastTurn;
    const clientTurn = ofClient(item.client)[0]?.clientTurn ?? lastTurn;
    const entry = { item, networkTurn, clientTurn, ...Promise.withResolvers<void>() };
    waiting.push(entry);
    return entry;
  }

  /** False if it no longer waits. */
  function remove(entry: Entry<T>): boolean {
    const at = waiting.indexOf(entry);
    if (at !== -1) waiting.splice(at, 1);
    return at !== -1;
  }

  function endTurn(client: ClientKeys): void {
    lastTurn += 1;
    for (const entry of ofNetwork(client)) entry.networkTurn = lastTurn;
    for (const entry of ofClient(client)) entry.clientTurn = lastTurn;
  }

  function takeNow(isWanted: (item: T) => boolean): T | undefined {
    const wanted = waiting.filter(({ item }) => isWanted(item));
    const [next] = wanted.sort((a, b) => a.networkTurn - b.networkTurn || a.clientTurn - b.clientTurn);
    if (next === undefined) return undefined;
    remove(next);
    endTurn(next.item.client);
    next.resolve();
    return next.item;
  }

  function giveToTaker(item: T): void {
    const taker = takers.findLast(({ isWanted }) => isWanted(item));
    if (taker === undefined) return;
    takers.splice(takers.indexOf(taker), 1);
    taker.resolve(takeNow(taker.isWanted) as T);
  }

  /** On a tie, the newcomer is refused. */
  function refuseOne(newcomer: ClientKeys): void {
    const network = largestGroup(waiting, ({ item }) => item.client.network, newcomer.network);
    const entry = largestGroup(network, ({ item }) => item.client.key, newcomer.key).at(-1);
    if (entry !== undefined && remove(entry)) entry.reject(refusal());
  }

  return {
    get size() {
      return waiting.length;
    },
    async wait(item, signal, maxLength) {
      if (signal.aborted) throw abortError(signal);
      if (closedWith !== undefined) throw closedWith;
      const entry = add(item);
      const leave = (reason: AppError) => {
        if (remove(entry)) entry.reject(reason);
      };
      const onAbort = () => leave(abortError(signal));
      const cancelLimit = clock.after(maxWaitMs, () => leave(refusal()));
      signal.addEventListener('abort', onAbort, { once: true });
      try {
        giveToTaker(item);
        if (waiting.length > maxLength) refuseOne(item.client);
        await entry.promise;
      } finally {
        cancelLimit();
        signal.removeEventListener('abort', onAbort);
      }
    },
    async take(isWanted = () => true) {
      const item = takeNow(isWanted);
      if (item !== undefined) return item;
      const taker = { isWanted, ...Promise.withResolvers<T>() };
      takers.push(taker);
      return taker.promise;
    },
    endTurn,
    close(reason) {
      closedWith = reason;
      for (const entry of waiting.splice(0)) entry.reject(reason);
    },
  };
}

/** The items that have the most frequent key; of equally frequent ones, the preferred one if it is among them. */
function largestGroup<T>(items: readonly T[], keyOf: (item: T) => string, preferred: string): readonly T[] {
  const weightOf = (group: readonly T[], key: string) => group.length + (key === preferred ? 0.5 : 0);
  const groups = [...Map.groupBy(items, keyOf)];
  const [largest] = groups.sort(([a, first], [b, second]) => weightOf(second, b) - weightOf(first, a));
  return largest?.[1] ?? [];
}
