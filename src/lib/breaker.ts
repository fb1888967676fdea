import { AppError, type FailureCause, isDeclined, isKeyFailure, isUpstreamFailure } from '../domain/errors.ts';
import type { Clock } from './clock.ts';
import { LocalLimitError } from './http/call-budget.ts';
import { ConnectionError } from './http/http-client.ts';
import { describeFailure } from './logger.ts';

/** Why a breaker is open: the other side refuses this address, a quota is spent, or calls fail. */
export const BREAKER_REASONS = ['refused', 'quota', 'failing'] as const;

export type BreakerReason = (typeof BREAKER_REASONS)[number];

export interface BreakerState {
  readonly reason: BreakerReason;
  readonly cause: FailureCause;
  /** When the next call may be made, milliseconds since 1970. A time in the past: the breaker is half-open. */
  readonly untilMs: number;
  /** Reason, beginning and end, as one sentence for the operator. */
  readonly description: string;
}

interface BreakerOptions {
  readonly clock: Clock;
  /** The other side, as the subject of a sentence. */
  readonly label: string;
  /** Called when the breaker opens or gets another reason, and with `undefined` when it closes. */
  readonly onChange?: (state: BreakerState | undefined) => void;
}

/** A call that was not made because its breaker is open. */
export class BreakerOpenError extends LocalLimitError {
  override name = 'BreakerOpenError';
}

/** The other side refused this address. A breaker has opened already, so the call counts for no other breaker. */
class RefusedError extends AppError {}

/**
 * The other side refused the request without saying why. One such response may concern its key only. The second one in a row,
 * for another key, concerns this address.
 */
export class UnexplainedRefusalError extends AppError {
  /** What the other side did. */
  readonly detail: string;

  constructor(message: string, detail: string) {
    super('upstream_unavailable', message, { cause: new Error(detail), scope: 'key' });
    this.detail = detail;
  }
}

/** The breaker opens when its last calls failed for this many different keys. */
const FAILING_KEYS = 5;
/** The shortest `Retry-After`, for example during a trial. */
const MIN_RETRY_AFTER_MS = 1_000;

/** The first open time of a series, and the longest one. Each trial that fails doubles it. */
const OPEN_MS = {
  refused: { first: 60_000, longest: 3_600_000 },
  failing: { first: 10_000, longest: 300_000 },
} as const;

/** For clients: a sentence. For the operator: what the other side does, after its label. */
const WORDS: Readonly<Record<BreakerReason, { client: (label: string) => string; operator: string }>> = {
  refused: {
    client: (label) => `${label} refuses this service at the moment.`,
    operator: 'refuses this address',
  },
  quota: { client: (label) => `The daily quota of the ${label} is spent.`, operator: 'has no quota left' },
  failing: { client: (label) => `Calls to ${label} are paused after failures.`, operator: 'fails every call' },
};

interface Opening {
  readonly reason: BreakerReason;
  readonly cause: FailureCause;
  /** What the other side did. */
  readonly detail: string | undefined;
  /** By the wall clock, for the operator. */
  readonly sinceMs: number;
  readonly lengthMs: number;
  /** Monotonic. */
  readonly untilMs: number;
}

export interface Breaker {
  /**
   * Makes a call if the breaker is closed, or as the trial if it is half-open.
   *
   * @param key identifies the request; two calls with the same key would get the same response
   * @throws BreakerOpenError while the breaker is open; otherwise the error of `work`
   */
  run<T>(key: string, work: () => Promise<T>, signal: AbortSignal): Promise<T>;
  /** Throws a `BreakerOpenError` while the breaker is open. For calls outside of `run`, and for the further calls inside of it. */
  check(): void;
  /**
   * The other side refuses this address: opens the breaker, for twice as long after a trial. While it is open, this changes
   * nothing, because several calls may have been under way when it opened.
   *
   * @param retryAfterMs the time that the other side named
   * @returns the error of the refused call
   */
  refuse(detail: string, retryAfterMs?: number): RefusedError;
  /** The quota is spent until this time, in milliseconds since 1970. @returns the error of calls until then */
  openUntil(untilMs: number): BreakerOpenError;
  /** `undefined` while the breaker is closed. */
  state(): BreakerState | undefined;
}

/**
 * A circuit breaker. It opens at once when the other side refuses this address, and when the last calls, for five different keys,
 * failed. After the open time it is half-open: the next call is the trial, and other calls get a `BreakerOpenError` until the
 * trial ends. A trial that succeeds closes it, and one that fails opens it for twice as long.
 *
 * A readable response about the key is a success: "not found", "not available in your country". Calls that their caller aborted,
 * local limits, refusals for which another breaker has opened, and bugs do not count.
 */
export function createBreaker({ clock, label, onChange }: BreakerOptions): Breaker {
  /** The keys that failed since the last success. */
  const failing = new Set<string>();
  /** The first key that was refused without an explanation since the last success. */
  let refusedKey: string | undefined;
  let opening: Opening | undefined;
  let isTrying = false;

  const msLeft = () => (opening === undefined ? 0 : Math.max(0, opening.untilMs - clock.monotonic()));

  function open(reason: BreakerReason, lengthMs: number, detail?: string, cause: FailureCause = reason): void {
    const earlier = opening?.reason === reason ? opening : undefined;
    const sinceMs = earlier?.sinceMs ?? clock.now();
    opening = { reason, cause, detail, sinceMs, lengthMs, untilMs: clock.monotonic() + lengthMs };
    failing.clear();
    if (earlier === undefined) onChange?.(state());
  }

  function openOrDouble(reason: keyof typeof OPEN_MS, detail: string, minMs = 0, cause?: FailureCause): void {
    const { first, longest } = OPEN_MS[reason];
    const nextMs = opening?.reason === reason ? 2 * opening.lengthMs : first;
    open(reason, Math.min(longest, Math.max(nextMs, minMs)), detail, cause);
  }

  function close(): void {
    failing.clear();
    refusedKey = undefined;
    if (opening === undefined) return;
    opening = undefined;
    onChange?.(undefined);
  }

  function openError({ reason }: Opening): BreakerOpenError {
    return new BreakerOpenError(WORDS[reason].client(label), Math.max(MIN_RETRY_AFTER_MS, msLeft()));
  }

  function state(): BreakerState | undefined {
    if (opening === undefined) return undefined;
    const { reason, cause: causeOfOpening, detail, sinceMs } = opening;
    const untilMs = clock.now() + opening.untilMs - clock.monotonic();
    const cause = detail === undefined ? '' : ` (${detail})`;
    const next = msLeft() > 0 ? `next call at ${formatTime(untilMs)}` : 'the next request tries again';
    const description = `${label} ${WORDS[reason].operator} since ${formatTime(sinceMs)}${cause}; ${next}`;
    return { reason, cause: causeOfOpening, untilMs, description };
  }

  function refuse(detail: string, retryAfterMs?: number): RefusedError {
    if (opening?.reason !== 'refused' || msLeft() === 0) openOrDouble('refused', detail, retryAfterMs);
    const options = { cause: new Error(detail), retryAfterMs: msLeft() };
    return new RefusedError('upstream_unavailable', WORDS.refused.client(label), options);
  }

  /** Opens the breaker if a trial or enough calls failed. A trial that failed for its own key leaves the trial to the next call. */
  function countFailure(key: string, error: AppError, isTrial: boolean): void {
    failing.add(key);
    if (failing.size < FAILING_KEYS && (!isTrial || isKeyFailure(error))) return;
    // After a refusal, it cannot be told whether the refusal has ended.
    if (opening?.reason === 'refused') openOrDouble('refused', describeFailure(error));
    else
      openOrDouble('failing', describeFailure(error), 0, error instanceof ConnectionError ? 'unreachable' : 'failing');
  }

  /** Counts a call that ended with an error, as a failure or as a success. @returns the error for the caller */
  function countError(key: string, error: AppError, isTrial: boolean): AppError {
    if (error instanceof RefusedError) return error;
    if (error instanceof UnexplainedRefusalError) {
      refusedKey ??= key;
      if (refusedKey !== key) return refuse(error.detail);
    }
    if (!isUpstreamFailure(error) || isDeclined(error)) close();
    else countFailure(key, error, isTrial);
    return error;
  }

  return {
    async run(key, work, signal) {
      if (opening !== undefined && (isTrying || msLeft() > 0)) throw openError(opening);
      const isTrial = opening !== undefined;
      if (isTrial) isTrying = true;
      // A call that was under way when the breaker opened says nothing about the time after it.
      const counts = () => isTrial || opening === undefined;
      try {
        const value = await work();
        if (counts()) close();
        return value;
      } catch (error) {
        if (!(error instanceof AppError) || error instanceof LocalLimitError || signal.aborted) throw error;
        throw counts() ? countError(key, error, isTrial) : error;
      } finally {
        if (isTrial) isTrying = false;
      }
    },
    check() {
      if (opening !== undefined && msLeft() > 0) throw openError(opening);
    },
    refuse,
    openUntil(untilMs) {
      open('quota', untilMs - clock.now());
      return openError(opening as Opening);
    },
    state,
  };
}

/** In UTC, to the second. */
function formatTime(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19).replace('T', ' ')} UTC`;
}
