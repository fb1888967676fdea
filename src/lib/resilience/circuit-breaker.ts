import {
  CircuitState,
  circuitBreaker,
  handleWhenResult,
  type IBackoff,
  type IBreaker,
  isBrokenCircuitError,
} from 'cockatiel';
import { AppError, isCouldNotTell } from '../../domain/errors.ts';
import type { Clock } from '../clock.ts';
import { OwnLimitError } from './own-limit.ts';

export type BreakerState = 'closed' | 'open' | 'half-open';

/**
 * Stops asking an upstream that fails: opens when at least half of at least 20 calls within 10 s failed, refuses calls
 * for 10 s, then lets one through to see.
 *
 * "Could not tell" is a failure. Any other answer is not, "no such channel" included. What says nothing about the
 * upstream is left out: a call that its caller gave up, a limit of our own, a bug.
 */
export interface CircuitBreaker {
  /** @throws OwnLimitError when the breaker is open; whatever `work` rejects with otherwise */
  execute<T>(work: () => Promise<T>, signal: AbortSignal): Promise<T>;
  state(): BreakerState;
  stats(): { readonly opened: number; readonly refused: number };
}

export interface CircuitBreakerOptions {
  readonly clock: Clock;
  readonly windowMs?: number;
  readonly minimumCalls?: number;
  readonly failureShare?: number;
  readonly probeAfterMs?: number;
}

type Outcome<T> = { readonly value: T } | FailedOutcome;

interface FailedOutcome {
  readonly error: unknown;
  readonly isFailure: boolean;
}

export function createCircuitBreaker(options: CircuitBreakerOptions): CircuitBreaker {
  const { clock, windowMs = 10_000, minimumCalls = 20, failureShare = 0.5, probeAfterMs = 10_000 } = options;
  let openedAt = Number.NEGATIVE_INFINITY;
  let opened = 0;
  let refused = 0;

  // The library measures with the wall clock, which may jump: an endless or expired duration puts our clock in charge.
  const untilProbe: IBackoff<unknown> = {
    get duration() {
      return clock.monotonic() - openedAt < probeAfterMs ? Number.POSITIVE_INFINITY : Number.NEGATIVE_INFINITY;
    },
    next: () => untilProbe,
  };
  const policy = circuitBreaker(
    handleWhenResult((outcome) => (outcome as Partial<FailedOutcome>).isFailure === true),
    { breaker: createWindow(clock, windowMs, minimumCalls, failureShare), halfOpenAfter: untilProbe },
  );
  policy.onBreak(() => {
    openedAt = clock.monotonic();
    opened += 1;
  });

  /** An outcome that counts is returned, one that does not is thrown: so the library leaves it out. */
  async function settle<T>(work: () => Promise<T>, signal: AbortSignal): Promise<Outcome<T>> {
    try {
      return { value: await work() };
    } catch (error) {
      const saysNothing = signal.aborted || error instanceof OwnLimitError || !(error instanceof AppError);
      // A probe that says nothing must not close the breaker.
      const isProbe = policy.state === CircuitState.HalfOpen;
      if (saysNothing && !isProbe) throw error;
      return { error, isFailure: saysNothing || isCouldNotTell(error) };
    }
  }

  function refuse(): never {
    refused += 1;
    const waitMs = Math.max(0, openedAt + probeAfterMs - clock.monotonic());
    throw new OwnLimitError('The upstream has been failing and is not asked for a moment.', waitMs);
  }

  async function execute<T>(work: () => Promise<T>, signal: AbortSignal): Promise<T> {
    // While a probe is under way the library would let everybody wait for it.
    if (policy.state === CircuitState.HalfOpen) refuse();
    let outcome: Outcome<T>;
    try {
      outcome = await policy.execute(() => settle(work, signal));
    } catch (error) {
      if (isBrokenCircuitError(error)) refuse();
      throw error;
    }
    if ('error' in outcome) throw outcome.error;
    return outcome.value;
  }

  return {
    execute,
    state: () => STATES[policy.state],
    stats: () => ({ opened, refused }),
  };
}

const STATES: Record<CircuitState, BreakerState> = {
  [CircuitState.Closed]: 'closed',
  [CircuitState.Open]: 'open',
  [CircuitState.HalfOpen]: 'half-open',
  [CircuitState.Isolated]: 'open',
};

interface Call {
  readonly atMs: number;
  readonly isFailure: boolean;
}

/**
 * The calls of exactly the last `windowMs`. The library's own sampling breaker moves on by one slot for each call
 * however long ago the last one was, so that after a quiet hour old failures still count.
 */
function createWindow(clock: Clock, windowMs: number, minimumCalls: number, failureShare: number): IBreaker {
  let calls: Call[] = [];

  function add(isFailure: boolean): void {
    const now = clock.monotonic();
    calls = calls.filter(({ atMs }) => now - atMs < windowMs);
    calls.push({ atMs: now, isFailure });
  }

  return {
    state: undefined,
    success(state) {
      if (state === CircuitState.HalfOpen) calls = [];
      add(false);
    },
    failure(state) {
      add(true);
      if (state !== CircuitState.Closed) return true;
      const failures = calls.filter((call) => call.isFailure).length;
      return calls.length >= minimumCalls && failures >= failureShare * calls.length;
    },
  };
}
