import { LRUCache } from 'lru-cache';
import { AppError, type ErrorCode, isKeyFailure } from '../domain/errors.ts';
import type { Clock } from './clock.ts';
import { compactCopy } from './memory-cache.ts';
import type { BoundedStats } from './metrics.ts';

/** How long the failure of one key is remembered, if it does not say so itself. */
export const KEY_FAILURE_MS = 15_000;

interface Failure {
  readonly code: ErrorCode;
  readonly message: string;
  readonly scope: AppError['scope'];
  readonly untilMs: number;
}

const MAX_BYTES = 2 ** 20;
const ENTRY_OVERHEAD_BYTES = 250;

/**
 * Remembers failures that concern one key (see `isKeyFailure`), in memory only, to avoid calls that would fail again. A
 * purge forgets them, because it may have fixed any of them.
 */
export interface FailedKeys {
  /** Returns the key's remembered failure; `retryAfterMs` is the remaining time. */
  find(key: string): AppError | undefined;
  /**
   * Remembers the failure for its `validForMs`; by default for `KEY_FAILURE_MS`, or for its `retryAfterMs` if that is
   * shorter.
   *
   * @returns the failure with a `retryAfterMs`
   */
  remember(key: string, failure: AppError): AppError;
  /** Runs the work unless the key's failure is remembered, and remembers a failure of the key. */
  run<T>(key: string, work: () => Promise<T>): Promise<T>;
  forget(): void;
  stats(): BoundedStats;
}

export function createFailedKeys({ clock }: { readonly clock: Clock }): FailedKeys {
  const failures = new LRUCache<string, Failure>({
    maxSize: MAX_BYTES,
    sizeCalculation: ({ message }, key) => ENTRY_OVERHEAD_BYTES + 2 * (key.length + message.length),
  });

  function find(key: string): AppError | undefined {
    const found = failures.get(key);
    if (found === undefined) return undefined;
    const leftMs = found.untilMs - clock.monotonic();
    if (leftMs > 0) return new AppError(found.code, found.message, { retryAfterMs: leftMs, scope: found.scope });
    failures.delete(key);
    return undefined;
  }

  function remember(key: string, failure: AppError): AppError {
    const { code, message, scope, retryAfterMs = KEY_FAILURE_MS, validForMs } = failure;
    failures.set(compactCopy(key), {
      code,
      message,
      scope,
      untilMs: clock.monotonic() + (validForMs ?? Math.min(retryAfterMs, KEY_FAILURE_MS)),
    });
    if (failure.retryAfterMs !== undefined) return failure;
    return new AppError(code, message, { cause: failure, retryAfterMs, scope });
  }

  return {
    find,
    remember,
    async run(key, work) {
      const known = find(key);
      if (known !== undefined) throw known;
      try {
        return await work();
      } catch (error) {
        throw isKeyFailure(error) ? remember(key, error) : error;
      }
    },
    forget: () => failures.clear(),
    stats: () => ({ entries: failures.size, bytes: failures.calculatedSize, maxBytes: MAX_BYTES }),
  };
}
