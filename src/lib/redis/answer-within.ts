import type { Clock } from '../clock.ts';

/** No answer came in time; the command may have been carried out all the same. */
export class RedisTimeout extends Error {
  constructor(ms: number) {
    super(`no answer within ${ms} ms`);
    this.name = 'RedisTimeout';
  }
}

/**
 * The time-out is counted in steps, between which sockets are read. A pause of this process counts as one step, however
 * long it was: afterwards the answer may be there but unread. Otherwise a burst of requests would look like an outage of
 * Redis.
 */
const STEP_MS = 10;

/**
 * The answer, when it comes in time.
 *
 * @throws RedisTimeout
 */
export async function answerWithin<T>(clock: Clock, answer: Promise<T>, ms: number): Promise<T> {
  const { promise: elapsed, reject } = Promise.withResolvers<never>();
  let stepsLeft = Math.ceil(ms / STEP_MS);
  let cancel = clock.after(STEP_MS, endStep);

  function endStep(): void {
    stepsLeft -= 1;
    if (stepsLeft === 0) reject(new RedisTimeout(ms));
    else cancel = clock.after(STEP_MS, endStep);
  }

  try {
    return await Promise.race([answer, elapsed]);
  } finally {
    cancel();
  }
}
