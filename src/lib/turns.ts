import type { AppError } from '../domain/errors.ts';
import type { Clock } from './clock.ts';
import { abortError } from './deadlines.ts';
import { createFairQueue } from './fair-queue.ts';
import type { ClientKeys } from './work.ts';

interface TurnsOptions {
  /** Callers that may wait. */
  readonly maxLength: number;
  readonly maxWaitMs: number;
  readonly clock: Clock;
  /** Calls `give` as often as there is a turn now. Called when a caller begins to wait, and before it gives up. */
  readonly giveTurns: () => void;
  /** The error of a caller for which there is no room, that is displaced, or that waits too long. */
  readonly refusal: () => AppError;
}

/** Callers that wait in a fair queue for something scarce. Its owner gives the turns. */
export function createTurns({ maxLength, maxWaitMs, clock, giveTurns, refusal }: TurnsOptions) {
  const queue = createFairQueue<PromiseWithResolvers<void>>({ maxLength, clock });

  return {
    /**
     * Resolves when the caller has its turn.
     *
     * @throws AppError `refusal`, or that of the signal (`abortError`)
     */
    async wait(client: ClientKeys, expectedCost: number, signal: AbortSignal): Promise<void> {
      if (signal.aborted) throw abortError(signal);
      const turn = Promise.withResolvers<void>();
      const { isAdded, displaced } = queue.add(client, turn, expectedCost);
      if (!isAdded) throw refusal();
      displaced?.reject(refusal());
      const leave = (reason: AppError) => {
        queue.remove(turn);
        turn.reject(reason);
      };
      const onAbort = () => leave(abortError(signal));
      const cancelLimit = clock.after(maxWaitMs, () => {
        giveTurns();
        leave(refusal());
      });
      signal.addEventListener('abort', onAbort, { once: true });
      try {
        giveTurns();
        await turn.promise;
      } finally {
        cancelLimit();
        signal.removeEventListener('abort', onAbort);
      }
    },
    /** Gives the next caller its turn and charges its client the expected cost. False if no caller waits. */
    give(): boolean {
      const turn = queue.next();
      turn?.resolve();
      return turn !== undefined;
    },
    charge: queue.charge,
    waiting: () => ({ entries: queue.size, maxEntries: maxLength }),
    clients: queue.clients,
  };
}
