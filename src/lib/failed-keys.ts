import { LRUCache } from 'lru-cache';
import { AppError, type ErrorCode, isKeyFailure, isUpstreamFailure } from '../domain/errors.ts';
import type { Clock } from './clock.ts';
import { compactCopy } from './memory-cache.ts';

/** How long the failure of one key is remembered, if it does not say so itself. */
const KEY_FAILURE_MS = 15_000;

interface Failure {
  readonly code: ErrorCode;
  readonly message: string;
  readonly scope: AppError['scope'];
  readonly untilMs: number;
}

const MAX_BYTES = 2 ** 20;
const ENTRY_OVERHEAD_BYTES = 250;

/**
 * Remembers failures of keys, in memory only, to avoid calls that would fail again. A purge forgets them, because it may have
 * fixed any of them.
 */
export function createFailedKeys({ clock }: { readonly clock: Clock }) {
  const failures = new LRUCache<string, Failure>({
    maxSize: MAX_BYTES,
    sizeCalculation: ({ message }, key) => ENTRY_OVERHEAD_BYTES + 2 * (key.length + message.length),
  });

  function remember(key: string, failure: AppError, retryMs: number | undefined): AppError {
    const { code, message, scope, retryAfterMs = KEY_FAILURE_MS, validForMs } = failure;
    const untilMs = clock.monotonic() + (validForMs ?? retryMs ?? Math.min(retryAfterMs, KEY_FAILURE_MS));
    failures.set(compactCopy(key), { code, message, scope, untilMs });
    if (failure.retryAfterMs !== undefined) return failure;
    return new AppError(code, message, { cause: failure, retryAfterMs, scope });
  }

  function leftMsOf(failure: Failure | undefined): number {
    return failure === undefined ? 0 : failure.untilMs - clock.monotonic();
  }

  return {
    /**
     * Runs the work, unless a failure of the key is remembered. Remembers a failure for its `validForMs`; by default for
     * `KEY_FAILURE_MS`, or for its `retryAfterMs` if that is shorter.
     *
     * @param retryMs how long any failure of upstream is remembered. Default: only those that concern the key (see `isKeyFailure`)
     * @throws the failure of the work, or the remembered one, with a `retryAfterMs`
     */
    async run<T>(key: string, work: () => Promise<T>, retryMs?: number): Promise<T> {
      const known = failures.get(key);
      const leftMs = leftMsOf(known);
      if (known !== undefined && leftMs > 0) {
        throw new AppError(known.code, known.message, { retryAfterMs: leftMs, scope: known.scope });
      }
      try {
        return await work();
      } catch (error) {
        const isRemembered = isKeyFailure(error) || (retryMs !== undefined && isUpstreamFailure(error));
        throw isRemembered ? remember(key, error, retryMs) : error;
      }
    },
    /** Whether a failure of the key is remembered. */
    has: (key: string) => leftMsOf(failures.get(key)) > 0,
    forget: () => failures.clear(),
    stats: () => ({ entries: failures.size, bytes: failures.calculatedSize, maxBytes: MAX_BYTES }),
  };
}
