import type { AppError } from '../domain/errors.ts';
import type { Clock } from './clock.ts';
import { abortError } from './deadlines.ts';
import type { ClientKeys } from './request-scope.ts';

interface RoundRobinOptions<P> {
  /** Where work runs: one piece at a time in each. */
  readonly places: readonly P[];
  readonly maxWaitMs: number;
  readonly clock: Clock;
  /** The error of work for which there is no room, or that waits too long. */
  readonly refusal: () => AppError;
}

interface Work<P> {
  readonly client: ClientKeys;
  readonly signal: AbortSignal;
  /** How much work may wait, with this one. */
  readonly maxWaiting: number;
  /** False for a place that this work leaves to others. Default: it takes any place */
  readonly suits?: (place: P) => boolean;
}

interface Entry<P> extends PromiseWithResolvers<P> {
  readonly client: ClientKeys;
  readonly suits: (place: P) => boolean;
  /** The lowest number is next: the network’s, then the client’s. */
  networkTurn: number;
  clientTurn: number;
}

/**
 * Gives places to the work of clients. While none is free, networks take turns, and so do the clients of a network; the work of
 * one client stays in order. If too much waits, the newest of whoever has most is refused: of the client with the most in the
 * network with the most.
 */
export function createRoundRobin<P>({ places, maxWaitMs, clock, refusal }: RoundRobinOptions<P>) {
  /** None of them suits what waits. */
  const free = new Set(places);
  /** In the order of their arrival. */
  const waiting = new Set<Entry<P>>();
  let lastTurn = 0;

  const ofNetwork = ({ network }: ClientKeys) => [...waiting].filter(({ client }) => client.network === network);
  const ofClient = ({ key }: ClientKeys) => [...waiting].filter(({ client }) => client.key === key);

  function moveToEnd(client: ClientKeys): void {
    lastTurn += 1;
    for (const entry of ofNetwork(client)) entry.networkTurn = lastTurn;
    for (const entry of ofClient(client)) entry.clientTurn = lastTurn;
  }

  function release(place: P): void {
    const suited = [...waiting].filter(({ suits }) => suits(place));
    const [next] = suited.sort((a, b) => a.networkTurn - b.networkTurn || a.clientTurn - b.clientTurn);
    if (next === undefined) {
      free.add(place);
      return;
    }
    waiting.delete(next);
    moveToEnd(next.client);
    next.resolve(place);
  }

  /** Work that has begun stays. */
  function leave(entry: Entry<P>, reason: () => AppError): void {
    if (waiting.delete(entry)) entry.reject(reason());
  }

  /** On a tie, the newcomer is refused. */
  function refuseOne(newcomer: ClientKeys): void {
    const network = largestGroup([...waiting], ({ client }) => client.network, newcomer.network);
    const entry = largestGroup(network, ({ client }) => client.key, newcomer.key).at(-1);
    if (entry !== undefined) leave(entry, refusal);
  }

  async function waitForPlace({ client, signal, maxWaiting, suits = () => true }: Work<P>): Promise<P> {
    if (signal.aborted) throw abortError(signal);
    const place = [...free].findLast(suits);
    if (place !== undefined) {
      free.delete(place);
      moveToEnd(client);
      return place;
    }
    lastTurn += 1;
    const networkTurn = ofNetwork(client)[0]?.networkTurn ?? lastTurn;
    const clientTurn = ofClient(client)[0]?.clientTurn ?? lastTurn;
    const entry = { client, suits, networkTurn, clientTurn, ...Promise.withResolvers<P>() };
    waiting.add(entry);
    const onAbort = () => leave(entry, () => abortError(signal));
    const cancelLimit = clock.after(maxWaitMs, () => leave(entry, refusal));
    signal.addEventListener('abort', onAbort, { once: true });
    try {
      if (waiting.size > maxWaiting) refuseOne(client);
      return await entry.promise;
    } finally {
      cancelLimit();
      signal.removeEventListener('abort', onAbort);
    }
  }

  return {
    /** How much work waits for a place. */
    waiting: () => waiting.size,
    /** How much work has a place. */
    running: () => places.length - free.size,
    /**
     * Runs the work in a place when its turn has come. Of several free places it gets the one that became free last, so that the
     * others may rest.
     *
     * A network goes to the end of the line when its work begins, and again when that ends: another one waits for one long piece of
     * work, not for two.
     *
     * @throws AppError `refusal`, or that of the signal (`abortError`), for work that has not begun
     */
    async run<R>(work: Work<P>, start: (place: P) => Promise<R>): Promise<R> {
      const place = await waitForPlace(work);
      try {
        return await start(place);
      } finally {
        moveToEnd(work.client);
        release(place);
      }
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
