import { type AppError, FAILURES, type FailureCause, type FailureKind } from '../domain/errors.ts';
import type { Clock } from './clock.ts';

export interface CallFailure {
  readonly kind: FailureKind;
  /** What the other side did, for the operator. */
  readonly detail: string;
  /** The time that the other side named, or until a quota is renewed. */
  readonly waitMs?: number | undefined;
}

/** What a call led to: a value or an error about its key, whatever it says, or a failure. */
export type Verdict<T = unknown> = { readonly kind: 'answered'; readonly value: T | AppError } | CallFailure;

export interface BreakerState {
  readonly cause: FailureCause;
  readonly detail: string;
  /** Milliseconds since 1970. */
  readonly sinceMs: number;
  /** When the next call may be made, milliseconds since 1970. A time in the past: the breaker is half-open. */
  readonly untilMs: number;
}

export type Breaker = ReturnType<typeof createBreaker>;

/** The breaker opens when its last calls failed for this many different keys. */
const FAILING_KEYS = 5;
/** How long other keys wait during a trial. */
const TRIAL_MS = 1_000;

/** The first open time of a series, and the longest one. Each trial that fails doubles it. */
const SHORT = { first: 10_000, longest: 300_000 };
const LONG = { first: 60_000, longest: 3_600_000 };
const SERIES = { failing: SHORT, unreachable: SHORT, refused: LONG, quota: undefined };

/**
 * A circuit breaker: what is known about calls to another side, without the calls. It opens at once when the other side refuses
 * this address or a quota is spent, when it refuses two different keys in a row without a reason, and when the last calls, for
 * five different keys, failed. After the open time it is half-open: all calls of the next key together are the trial, which the
 * worst of them decides. A trial that is answered closes the breaker, and one that fails opens it for twice as long.
 */
export function createBreaker(clock: Clock) {
  /** The keys that failed since the last answer. */
  const failing = new Set<string>();
  /** The first key that was refused without a reason since the last answer. */
  let unexplainedKey: string | undefined;
  /** `untilMs` is monotonic. */
  let opening: (BreakerState & { readonly lengthMs: number }) | undefined;
  let trial: { readonly key: string; calls: number; verdict: Verdict | undefined } | undefined;

  function open(cause: FailureCause, detail: string, waitMs = 0): void {
    const series = SERIES[cause];
    const earlier = opening !== undefined && SERIES[opening.cause] === series ? opening : undefined;
    const nextMs = earlier === undefined ? series?.first : 2 * earlier.lengthMs;
    const lengthMs = series === undefined ? waitMs : Math.min(series.longest, Math.max(nextMs ?? 0, waitMs));
    const sinceMs = earlier?.sinceMs ?? clock.now();
    opening = { cause, detail, sinceMs, lengthMs, untilMs: clock.monotonic() + lengthMs };
    failing.clear();
  }

  /** Why the breaker opens after a failure; `undefined` if it does not. */
  function causeAfter(key: string, kind: FailureKind): FailureCause | undefined {
    if (kind === 'refused' || kind === 'quota') return kind;
    failing.add(key);
    if (kind === 'unexplained') unexplainedKey ??= key;
    if (kind === 'unexplained' && unexplainedKey !== key) return 'refused';
    const { scope, cause } = FAILURES[kind];
    if (failing.size < FAILING_KEYS && (opening === undefined || scope === 'key')) return undefined;
    // After a refusal, it cannot be told whether the refusal has ended.
    return opening?.cause === 'refused' ? 'refused' : cause;
  }

  function count(key: string, verdict: Verdict): void {
    if (verdict.kind === 'answered') {
      failing.clear();
      unexplainedKey = undefined;
      opening = undefined;
      return;
    }
    const cause = causeAfter(key, verdict.kind);
    if (cause !== undefined) open(cause, verdict.detail, verdict.waitMs);
  }

  return {
    /**
     * Admits a call, which must be settled, or returns how long it must wait. 0: it is admitted.
     *
     * @param key identifies what the call asks for; two calls with the same key would get the same response
     */
    admit(key: string): number {
      if (opening === undefined) return 0;
      const leftMs = opening.untilMs - clock.monotonic();
      if (leftMs > 0) return leftMs;
      trial ??= { key, calls: 0, verdict: undefined };
      if (trial.key !== key) return TRIAL_MS;
      trial.calls += 1;
      return 0;
    },

    /** Ends an admitted call. Without a verdict it counts for nothing: its caller has left it, or it was not sent. */
    settle(key: string, verdict?: Verdict): void {
      if (opening === undefined) {
        if (verdict !== undefined) count(key, verdict);
        return;
      }
      // A call that was under way when the breaker opened says nothing about the time after it.
      if (trial?.key !== key) return;
      trial.calls -= 1;
      if (rankOf(verdict) > rankOf(trial.verdict)) trial.verdict = verdict;
      const { calls, verdict: worst } = trial;
      // No other call of the trial can change a refusal.
      if (calls > 0 && worst?.kind !== 'refused' && worst?.kind !== 'quota') return;
      trial = undefined;
      if (worst !== undefined) count(key, worst);
    },

    /** `undefined` while the breaker is closed. */
    state(): BreakerState | undefined {
      if (opening === undefined) return undefined;
      const { cause, detail, sinceMs, untilMs } = opening;
      return { cause, detail, sinceMs, untilMs: clock.now() + untilMs - clock.monotonic() };
    },
  };
}

const FROM_BEST_TO_WORST = ['answered', ...Object.keys(FAILURES)];

function rankOf(verdict: Verdict | undefined): number {
  return verdict === undefined ? -1 : FROM_BEST_TO_WORST.indexOf(verdict.kind);
}
