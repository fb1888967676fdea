/** No answer came in time; the command may have been carried out all the same. */
export class RedisTimeout extends Error {
  constructor(ms: number) {
    super(`no answer within ${ms} ms`);
    this.name = 'RedisTimeout';
  }
}

/**
 * The time-out is counted in steps, between which sockets are read: a busy moment of this process, after which the
 * answer is there but unread, counts as one step however long it was. Else a burst of requests would look like an
 * outage of Redis.
 */
const STEP_MS = 10;

/**
 * The answer, when it comes in time.
 *
 * @throws RedisTimeout
 */
export async function answerWithin<T>(answer: Promise<T>, ms: number): Promise<T> {
  const { promise: elapsed, reject } = Promise.withResolvers<never>();
  let stepsLeft = Math.ceil(ms / STEP_MS);
  const timer = setInterval(() => {
    stepsLeft -= 1;
    if (stepsLeft === 0) reject(new RedisTimeout(ms));
  }, STEP_MS);
  try {
    return await Promise.race([answer, elapsed]);
  } finally {
    clearInterval(timer);
  }
}
