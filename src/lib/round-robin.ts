import type { AppError } from '../domain/errors.ts';
import type { Clock } from './clock.ts';
import { abortError } from './deadlines.ts';
import type { ClientKeys } from './request-scope.ts';

interface RoundRobinOptions {
  readonly maxWaitMs: number;
  readonly clock: Clock;
  /** The error of work for which there is no room, or that waits too long. */
  readonly refusal: () => AppError;
}

/**
 * Work of clients that waits until somebody takes it. Networks take turns, and so do the clients of a network; the work of one
 * client stays in order. If there is too much, the newest of whoever has most is refused: of the client with the most in the
 * network with the most.
 */
export interface RoundRobin<T, R> {
  readonly size: number;
  /**
   * Returns the result of whoever takes the work.
   *
   * @param maxLength how much work may wait, with this one
   * @throws AppError `refusal`, or that of the signal (`abortError`), for work that nobody has taken
   */
  submit(client: ClientKeys, work: T, signal: AbortSignal, maxLength: number): Promise<R>;
  /**
   * Takes the next work, or waits for some. Of those who wait, the last one gets it, so that the first ones may rest.
   *
   * @param isWanted false for work that goes on waiting. Default: none
   */
  take(isWanted?: (work: T) => boolean): Promise<Taken<T, R>>;
}

export interface Taken<T, R> {
  readonly work: T;
  readonly waitedMs: number;
  /**
   * Passes the result on when it is there. A network goes to the end of the line when its work is taken, and again now: another
   * one waits for one long piece of work, not for two.
   */
  settle(result: Promise<R>): Promise<void>;
}

interface Entry<T, R> extends PromiseWithResolvers<R> {
  readonly client: ClientKeys;
  readonly work: T;
  readonly submittedAtMs: number;
  /** The lowest number is next: the network’s, then the client’s. */
  networkTurn: number;
  clientTurn: number;
}

interface Taker<T, R> extends PromiseWithResolvers<Taken<T, R>> {
  readonly isWanted: (work: T) => boolean;
}

export function createRoundRobin<T, R>(options: RoundRobinOptions): RoundRobin<T, R> {
  const { maxWaitMs, clock, refusal } = options;
  /** In the order of their arrival. */
  const waiting = new Set<Entry<T, R>>();
  /** None of them wants what waits. */
  const takers: Taker<T, R>[] = [];
  let lastTurn = 0;

  const ofNetwork = ({ network }: ClientKeys) => [...waiting].filter(({ client }) => client.network === network);
  const ofClient = ({ key }: ClientKeys) => [...waiting].filter(({ client }) => client.key === key);

  function add(client: ClientKeys, work: T): Entry<T, R> {
    lastTurn += 1;
    const networkTurn = ofNetwork(client)[0]?.networkTurn ?? lastTurn;
    const clientTurn = ofClient(client)[0]?.clientTurn ?? lastTurn;
    const submittedAtMs = clock.monotonic();
    const entry = { client, work, submittedAtMs, networkTurn, clientTurn, ...Promise.withResolvers<R>() };
    waiting.add(entry);
    return entry;
  }

  function moveToEnd(client: ClientKeys): void {
    lastTurn += 1;
    for (const entry of ofNetwork(client)) entry.networkTurn = lastTurn;
    for (const entry of ofClient(client)) entry.clientTurn = lastTurn;
  }

  function findNext(isWanted: (work: T) => boolean): Entry<T, R> | undefined {
    const wanted = [...waiting].filter(({ work }) => isWanted(work));
    return wanted.sort((a, b) => a.networkTurn - b.networkTurn || a.clientTurn - b.clientTurn)[0];
  }

  function begin(entry: Entry<T, R>): Taken<T, R> {
    const { client, work, submittedAtMs, resolve, reject } = entry;
    waiting.delete(entry);
    moveToEnd(client);
    return {
      work,
      waitedMs: clock.monotonic() - submittedAtMs,
      async settle(result) {
        await result.then(resolve, reject);
        moveToEnd(client);
      },
    };
  }

  function giveToTaker(entry: Entry<T, R>): void {
    const taker = takers.findLast(({ isWanted }) => isWanted(entry.work));
    if (taker === undefined) return;
    takers.splice(takers.indexOf(taker), 1);
    taker.resolve(begin(entry));
  }

  /** Work that was taken stays. */
  function leave(entry: Entry<T, R>, reason: () => AppError): void {
    if (waiting.delete(entry)) entry.reject(reason());
  }

  /** On a tie, the newcomer is refused. */
  function refuseOne(newcomer: ClientKeys): void {
    const network = largestGroup([...waiting], ({ client }) => client.network, newcomer.network);
    const entry = largestGroup(network, ({ client }) => client.key, newcomer.key).at(-1);
    if (entry !== undefined) leave(entry, refusal);
  }

  return {
    get size() {
      return waiting.size;
    },
    async submit(client, work, signal, maxLength) {
      if (signal.aborted) throw abortError(signal);
      const entry = add(client, work);
      const onAbort = () => leave(entry, () => abortError(signal));
      const cancelLimit = clock.after(maxWaitMs, () => leave(entry, refusal));
      signal.addEventListener('abort', onAbort, { once: true });
      try {
        giveToTaker(entry);
        if (waiting.size > maxLength) refuseOne(client);
        return await entry.promise;
      } finally {
        cancelLimit();
        signal.removeEventListener('abort', onAbort);
      }
    },
    async take(isWanted = () => true) {
      const next = findNext(isWanted);
      if (next !== undefined) return begin(next);
      const taker = { isWanted, ...Promise.withResolvers<Taken<T, R>>() };
      takers.push(taker);
      return taker.promise;
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
