import { AppError } from '../domain/errors.ts';
import type { Clock } from './clock.ts';

/** The error of work whose own time is over. */
class DeadlineError extends AppError {}

/** True if nobody waits for the work any more. Work whose own time is over is not abandoned: it took too long. */
export function isAbandoned({ aborted, reason }: AbortSignal): boolean {
  return aborted && !(reason instanceof DeadlineError);
}

/**
 * Runs `work` with a signal that is aborted after `ms` or with `parent`, and settles at that time at the latest, even if the
 * work ignores the signal.
 *
 * @throws AppError `upstream_timeout` when it is aborted; an `AppError` that `parent` was aborted with is passed on
 */
export async function withDeadline<T>(
  clock: Clock,
  ms: number,
  parent: AbortSignal,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  if (parent.aborted) throw abortError(parent);
  const controller = new AbortController();
  const cancel = clock.after(ms, () => controller.abort(new DeadlineError('upstream_timeout', TOO_LATE)));
  const passOn = () => controller.abort(abortError(parent));
  parent.addEventListener('abort', passOn, { once: true });
  try {
    return await untilAborted(work(controller.signal), controller.signal);
  } finally {
    cancel();
    parent.removeEventListener('abort', passOn);
  }
}

/** The signal of work that continues without its callers. */
export const NEVER_ABORTED: AbortSignal = new AbortController().signal;

const TOO_LATE = 'There was no response in time.';

/** The error of an abandoned call: the reason if it is an `AppError`, otherwise `upstream_timeout`. */
export function abortError({ reason }: AbortSignal): AppError {
  return reason instanceof AppError ? reason : new AppError('upstream_timeout', TOO_LATE, { cause: reason });
}

/** The promise's result; rejects with the signal's reason as soon as that is aborted. The work continues. */
export async function untilAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const abort = () => reject(signal.reason);
  if (signal.aborted) abort();
  signal.addEventListener('abort', abort, { once: true });
  try {
    return await Promise.race([aborted, promise]);
  } finally {
    signal.removeEventListener('abort', abort);
  }
}

/** The promise's value if it settles within `ms`, otherwise `undefined`. The work continues. */
export async function withinMs<T>(clock: Clock, promise: Promise<T>, ms: number): Promise<T | undefined> {
  if (ms <= 0) {
    // It may fail later, when nobody waits for it.
    promise.catch(() => undefined);
    return undefined;
  }
  const { promise: elapsed, resolve } = Promise.withResolvers<undefined>();
  const cancel = clock.after(ms, () => resolve(undefined));
  try {
    return await Promise.race([promise, elapsed]);
  } finally {
    cancel();
  }
}
