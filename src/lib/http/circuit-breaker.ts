import { AppError, isIndeterminate, isKeyFailure } from '../../domain/errors.ts';
import type { Clock } from '../clock.ts';
import { createFailedKeys } from '../failed-keys.ts';
import { LocalLimitError } from './call-budget.ts';

export type BreakerState = 'closed' | 'open' | 'half-open';

export type CircuitBreaker = ReturnType<typeof createCircuitBreaker>;

type Outcome = 'succeeded' | 'failed' | 'key failed' | 'aborted' | 'not called';

const WINDOW_MS = 10_000;
const MINIMUM_CALLS = 20;
const FAILURE_SHARE = 0.5;
const PROBE_AFTER_MS = 10_000;
/** More than the default call budget allows in 10 s. */
const MAX_CALLS = 1_000;
/** The breaker opens again after this many probes in a row failed for their own key only. */
const MAX_KEY_FAILURES_OF_PROBES = 3;
/** The minimum `Retry-After`, for example during a probe. */
const SOON_MS = 1_000;

/**
 * Stops calling an upstream that fails: opens when at least half of at least 20 calls within 10 s failed, refuses calls
 * for 10 s, then lets one through as a probe.
 *
 * Only indeterminate errors count as failures; "no such channel" does not. A failure that concerns one key is
 * remembered for 15 s: meanwhile calls for the key get the same failure, so it counts once and is never a probe. Calls
 * that their caller aborted, local limits and bugs do not count.
 */
export function createCircuitBreaker({ clock }: { readonly clock: Clock }) {
  const failedKeys = createFailedKeys({ clock });
  let state: BreakerState = 'closed';
  let isProbing = false;
  let probeFromMs = 0;
  let keyFailuresOfProbes = 0;
  // A call that began before the last change of state says nothing about the time after it.
  let changes = 0;
  let opened = 0;
  /** The latest calls of exactly the window. */
  let calls: { readonly atMs: number; readonly isFailure: boolean }[] = [];

  function open(): void {
    state = 'open';
    changes += 1;
    opened += 1;
    probeFromMs = clock.monotonic() + PROBE_AFTER_MS;
    keyFailuresOfProbes = 0;
  }

  function close(): void {
    state = 'closed';
    changes += 1;
    calls = [];
  }

  /** @returns whether the call is the probe */
  function admit(): boolean {
    if (state === 'closed') return false;
    const waitMs = probeFromMs - clock.monotonic();
    if (isProbing || waitMs > 0) {
      throw new LocalLimitError('Calls to the upstream are paused after failures.', Math.max(SOON_MS, waitMs));
    }
    state = 'half-open';
    isProbing = true;
    return true;
  }

  function countCall(outcome: Outcome): void {
    if (outcome === 'aborted' || outcome === 'not called') return;
    const isFailure = outcome !== 'succeeded';
    const nowMs = clock.monotonic();
    calls = calls.slice(1 - MAX_CALLS).filter(({ atMs }) => nowMs - atMs < WINDOW_MS);
    calls.push({ atMs: nowMs, isFailure });
    if (!isFailure || calls.length < MINIMUM_CALLS) return;
    const failures = calls.filter((call) => call.isFailure).length;
    if (failures >= FAILURE_SHARE * calls.length) open();
  }

  function judgeProbe(outcome: Outcome): void {
    isProbing = false;
    if (outcome === 'succeeded') close();
    else if (outcome === 'failed' || outcome === 'aborted') open();
    else if (outcome === 'key failed') {
      keyFailuresOfProbes += 1;
      if (keyFailuresOfProbes === MAX_KEY_FAILURES_OF_PROBES) open();
    }
  }

  return {
    /**
     * @param key identifies the request; two calls with the same key would get the same response
     * @throws LocalLimitError if the breaker is open; the remembered failure of the key; otherwise the error of `work`
     */
    async execute<T>(key: string, work: () => Promise<T>, signal: AbortSignal): Promise<T> {
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
        settle('succeeded');
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
    },
    /** Closes the breaker and forgets all failures. */
    forgetFailures(): void {
      close();
      failedKeys.forget();
    },
    state: () => state,
    /** `opened`: how often it opened, including after failed probes. `calls`: those in the window. */
    stats: () => ({
      opened,
      calls: { entries: calls.length, maxEntries: MAX_CALLS },
      failedKeys: failedKeys.stats(),
    }),
  };
}

function outcomeOf(error: unknown, signal: AbortSignal): Outcome {
  if (error instanceof LocalLimitError) return 'not called';
  if (signal.aborted || !(error instanceof AppError)) return 'aborted';
  if (!isIndeterminate(error)) return 'succeeded';
  return isKeyFailure(error) ? 'key failed' : 'failed';
}
