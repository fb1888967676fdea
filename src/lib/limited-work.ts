import { AsyncLocalStorage } from 'node:async_hooks';
import type { AppError } from '../domain/errors.ts';
import type { Clock } from './clock.ts';
import { NEVER_ABORTED } from './deadlines.ts';
import type { BoundedStats } from './metrics.ts';
import { createRoundRobin } from './round-robin.ts';
import { currentClient } from './work.ts';

interface LimitedWorkOptions {
  /** How much work may run at a time. */
  readonly atOnce: number;
  /** How much may wait. */
  readonly maxWaiting: number;
  readonly maxWaitMs: number;
  readonly clock: Clock;
  /** The error of work for which there is no room, or that waits too long. */
  readonly refusal: () => AppError;
}

/** Work that takes much memory. While some waits, networks take turns, and so do their clients. */
export interface LimitedWork<R> {
  /** Runs the work when it has its turn, also if its callers have left. @throws AppError `refusal` */
  run(work: () => Promise<R>): Promise<R>;
  waiting(): BoundedStats;
}

export function createLimitedWork<R>(options: LimitedWorkOptions): LimitedWork<R> {
  const { atOnce, maxWaiting, ...queueOptions } = options;
  const queue = createRoundRobin<() => Promise<R>, R>(queueOptions);

  async function takeWork(): Promise<never> {
    for (;;) {
      const { work, settle } = await queue.take();
      await settle(work());
    }
  }

  for (let taker = 0; taker < atOnce; taker += 1) void takeWork();

  return {
    // What the work does is part of this request.
    run: (work) => queue.submit(currentClient(), AsyncLocalStorage.bind(work), NEVER_ABORTED, maxWaiting),
    waiting: () => ({ entries: queue.size, maxEntries: maxWaiting }),
  };
}
