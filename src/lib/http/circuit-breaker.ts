import { AppError, isIndeterminate, isKeyFailure } from '../../domain/errors.ts';
import type { Clock } from '../clock.ts';
import { createFailedKeys } from '../failed-keys.ts';
import type { HolderStats } from '../holders.ts';
import { LocalLimitError } from './call-budget.ts';

export type BreakerState = 'closed' | 'open' | 'half-open';

/**
 * Stops calling an upstream that fails: opens when at least half of at least 20 calls within 10 s failed, refuses calls
 * for 10 s, then lets one through as a probe.
 *
 * Only indeterminate errors count as failures; "no such channel" does not. A failure that concerns one key is
 * remembered for 15 s: meanwhile calls for the key get the same failure, so it counts once and is never a probe. Calls
 * that their caller aborted, local limits and bugs do not count.
 */
export interface CircuitBreaker {
  /**
   * @param key identifies the request; two calls with the same key would get the same answer
   * @throws LocalLimitError if the breaker is open; the remembered failure of the key; otherwise the error of `work`
   */
  execute<T>(key: string, work: () => Promise<T>, signal: AbortSignal): Promise<T>;
  /** Closes the breaker and forgets all failures. */
  forgetFailures(): void;
  state(): BreakerState;
  stats(): BreakerStats;
}

export interface BreakerStats {
  /** How often it opened, including after failed probes. */
  readonly opened: number;
  /** Calls refused while the breaker was open. */
  readonly refused: number;
  /** The calls in the window. */
  readonly calls: HolderStats;
  readonly failedKeys: HolderStats;
}

export interface CircuitBreakerOptions {
  readonly clock: Clock;
  readonly windowMs?: number;
  readonly minimumCalls?: number;
  readonly failureShare?: number;
  readonly probeAfterMs?: number;
}

type Outcome = 'answered' | 'failed' | 'key failed' | 'given up' | 'not called';

/** More than the default call budget allows in 10 s. */
const MAX_CALLS = 1_000;
/** The breaker opens again after this many probes in a row failed for their own key only. */
const MAX_KEY_FAILURES_OF_PROBES = 3;
/** The minimum `Retry-After`, for example during a probe. */
const SOON_MS = 1_000;

export function createCircuitBreaker(options: CircuitBreakerOptions): CircuitBreaker {
  const { clock, windowMs = 10_000, minimumCalls = 20, failureShare = 0.5, probeAfterMs = 10_000 } = options;
  const calls = createCallWindow(clock, windowMs);
  const failedKeys = createFailedKeys({ clock });
  let state: BreakerState = 'closed';
  let isProbing = false;
  let probeFromMs = 0;
  let keyFailuresOfProbes = 0;
  // A call that began before the last change of state says nothing about the time after it.
  let changes = 0;
  let opened = 0;
  let refused = 0;

  function open(): void {
    state = 'open';
    changes += 1;
    opened += 1;
    probeFromMs = clock.monotonic() + probeAfterMs;
    keyFailuresOfProbes = 0;
  }

  function close(): void {
    state = 'closed';
    changes += 1;
    calls.clear();
  }

  function refuse(): never {
    refused += 1;
    const waitMs = Math.max(SOON_MS, probeFromMs - clock.monotonic());
    throw new LocalLimitError('Calls to the upstream are paused after failures.', waitMs);
  }

  /** @returns whether the call is the probe */
  function admit(): boolean {
    if (state === 'closed') return false;
    if (isProbing || clock.monotonic() < probeFromMs) refuse();
    state = 'half-open';
    isProbing = true;
    return true;
  }

  function countCall(outcome: Outcome): void {
    if (outcome === 'given up' || outcome === 'not called') return;
    calls.add(outcome !== 'answered');
    if (outcome !== 'answered' && calls.isFailing(minimumCalls, failureShare)) open();
  }

  function judgeProbe(outcome: Outcome): void {
    isProbing = false;
    if (outcome === 'answered') close();
    else if (outcome === 'failed' || outcome === 'given up') open();
    else if (outcome === 'key failed') {
      keyFailuresOfProbes += 1;
      if (keyFailuresOfProbes === MAX_KEY_FAILURES_OF_PROBES) open();
    }
  }

  async function execute<T>(key: string, work: () => Promise<T>, signal: AbortSignal): Promise<T> {
    const known = failedKeys.find(key);
    if (known !== undefined) throw known;
    const isProbe = admit();
    const begunAt = changes;
    const settle = (outcome: Outcome) => {
      if (isProbe) judgeProbe(outcome);
      else if (begunAt === changes) countCall(outcome);
    };
    try {
      const value = await work();
      settle('answered');
      return value;
    } catch (error) {
      const outcome = outcomeOf(error, signal);
      if (outcome !== 'key failed') {
        settle(outcome);
        throw error;
      }
      // Only one of several concurrent calls for the key counts.
      const isCounted = failedKeys.find(key) !== undefined;
      const remembered = failedKeys.remember(key, error as AppError);
      settle(isCounted ? 'not called' : 'key failed');
      throw remembered;
    }
  }

  return {
    execute,
    forgetFailures() {
      close();
      failedKeys.forget();
    },
    state: () => state,
    stats: () => ({ opened, refused, calls: calls.stats(), failedKeys: failedKeys.stats() }),
  };
}

function outcomeOf(error: unknown, signal: AbortSignal): Outcome {
  if (error instanceof LocalLimitError) return 'not called';
  if (signal.aborted || !(error instanceof AppError)) return 'given up';
  if (!isIndeterminate(error)) return 'answered';
  return isKeyFailure(error) ? 'key failed' : 'failed';
}

/** The latest calls of exactly the last `windowMs`. */
function createCallWindow(clock: Clock, windowMs: number) {
  let calls: { readonly atMs: number; readonly isFailure: boolean }[] = [];

  return {
    add(isFailure: boolean): void {
      const now = clock.monotonic();
      calls = calls.slice(1 - MAX_CALLS).filter(({ atMs }) => now - atMs < windowMs);
      calls.push({ atMs: now, isFailure });
    },
    isFailing(minimumCalls: number, failureShare: number): boolean {
      const failures = calls.filter((call) => call.isFailure).length;
      return calls.length >= minimumCalls && failures >= failureShare * calls.length;
    },
    clear(): void {
      calls = [];
    },
    stats: () => ({ entries: calls.length, maxEntries: MAX_CALLS }),
  };
}
