import { AppError, isInconclusive, isIndeterminate, isKeyFailure } from '../../domain/errors.ts';
import type { Clock } from '../clock.ts';
import { createFailedKeys } from '../failed-keys.ts';
import type { HolderStats } from '../holders.ts';
import { describeFailure } from '../logger.ts';
import { LocalLimitError } from './call-budget.ts';
import { ConnectionError } from './http-client.ts';
import { FAILING, type PauseReason, REFUSED, type TrialReason, UNREACHABLE } from './pause-reasons.ts';

export interface PauseState {
  /** `refused`, `failing`, `unreachable`, or that of a `hold`. */
  readonly reason: string;
  /** When the next call may be made, in milliseconds since 1970. A time in the past: the next call is the trial. */
  readonly untilMs: number;
  /** Reason, beginning and end, as one sentence for the operator. */
  readonly description: string;
}

interface PauseOptions {
  readonly clock: Clock;
  /** The source as the subject of a sentence. */
  readonly label: string;
  /**
   * Called when a pause begins or gets another reason, and with `undefined` when it ends.
   *
   * @param hasResponded whether it ends because a call succeeded
   */
  readonly onChange?: (state: PauseState | undefined, hasResponded: boolean) => void;
}

/** A call that was not made because its source is paused. */
export class PausedError extends LocalLimitError {
  override name = 'PausedError';
  readonly reason: string;

  constructor(reason: string, message: string, retryAfterMs: number) {
    super(message, retryAfterMs);
    this.reason = reason;
  }
}

/** The source refused this address. Its pause has already begun, so the call counts for no other pause. */
class RefusedError extends AppError {
  override name = 'RefusedError';
}

/**
 * The source refused the request without saying why. One such response may concern its key only. The second one in a row, for
 * another key, concerns this address.
 */
export class UnexplainedRefusalError extends AppError {
  override name = 'UnexplainedRefusalError';
  /** What the source did. */
  readonly detail: string;

  constructor(message: string, detail: string) {
    super('upstream_unavailable', message, { cause: new Error(detail), scope: 'key' });
    this.detail = detail;
  }
}

/** The source is paused when its last calls failed for this many different keys. */
const FAILING_KEYS = 5;
/** The shortest `Retry-After`, for example during a trial. */
const MIN_RETRY_AFTER_MS = 1_000;

interface CurrentPause {
  /** A reason without lengths is that of a `hold`. */
  readonly why: PauseReason & Partial<TrialReason>;
  /** What the source did. */
  readonly detail: string | undefined;
  /** By the wall clock, for the operator. */
  readonly sinceMs: number;
  readonly lengthMs: number;
  /** Monotonic. */
  readonly untilMs: number;
}

export interface Pause {
  /**
   * Makes a call if the source is ready, or as the trial after a pause.
   *
   * @param key identifies the request; two calls with the same key would get the same response
   * @throws PausedError during a pause; the remembered failure of the key; otherwise the error of `work`
   */
  run<T>(key: string, work: () => Promise<T>, signal: AbortSignal): Promise<T>;
  /**
   * Throws a `PausedError` during a pause. For calls outside of `run`, and inside of it for the further calls of work whose
   * first call was refused.
   */
  check(): void;
  /**
   * The source refuses this address: begins the pause, or doubles it after a trial. During the pause this does not prolong it,
   * because several calls may have been under way when it began.
   *
   * @param detail what the source did
   * @param retryAfterMs the time that the source named
   * @returns the error of the refused call
   */
  refuse(detail: string, retryAfterMs?: number): RefusedError;
  /** A call succeeded. */
  succeed(): void;
  /**
   * No connection can be opened. Before any call was made, the source is unreachable from now on. In both cases the next call
   * is the trial.
   */
  loseContact(detail: string): void;
  /** A connection could be opened. */
  regainContact(): void;
  /** Pauses the source for this many milliseconds, without a trial after it. @returns the error of calls meanwhile */
  hold(why: PauseReason, ms: number): PausedError;
  /** `undefined` while the source is ready. */
  state(): PauseState | undefined;
  stats(): HolderStats;
}

/**
 * A circuit breaker for one source: it says whether the source is ready or paused, until when, and why.
 * - `refused`: the source refuses this address. The pause begins at once, for a minute.
 * - `failing`: the last calls, for five different keys, failed, however slowly they came. The pause takes 10 s.
 * - `unreachable`: the same, without a connection.
 * - `hold`: a reason of the caller's, for the time that the caller knows. Then the source is ready.
 *
 * After any other pause, the next call is the trial. Until it ends, further calls get a `PausedError`. If it succeeds, the
 * source is ready. If it fails, the pause begins again and takes twice as long, up to an hour (`refused`) or 5 minutes.
 *
 * A failure that concerns one key is remembered for 15 s. Calls for the key then get the same failure, and it counts once.
 * A readable response about the key is a success: "not found", "not available in your country". Calls that their caller
 * aborted, local limits, refusals for which another pause has begun, and bugs do not count.
 */
export function createPause({ clock, label, onChange }: PauseOptions): Pause {
  const failedKeys = createFailedKeys({ clock });
  let current: CurrentPause | undefined;
  let isTrying = false;
  let hasSucceeded = false;
  /** The keys that failed since the last success. */
  const failingKeys = new Set<string>();
  /** The first key that was refused without an explanation since the last success. */
  let refusedKey: string | undefined;
  /** Beginnings and ends of pauses. A call that began before the latest one says nothing about the time after it. */
  let changes = 0;

  function begin(why: CurrentPause['why'], lengthMs: number, detail?: string): CurrentPause {
    const earlier = current?.why.reason === why.reason ? current : undefined;
    const untilMs = clock.monotonic() + lengthMs;
    const begun = { why, detail, sinceMs: earlier?.sinceMs ?? clock.now(), lengthMs, untilMs };
    current = begun;
    changes += 1;
    failingKeys.clear();
    if (earlier === undefined) onChange?.(stateOf(begun), false);
    return begun;
  }

  function beginOrDouble(why: TrialReason, detail: string, minMs = 0): void {
    const { first, longest } = why.lengthsMs;
    // `failing` and `unreachable` have the same lengths and are one series.
    const nextMs = current?.why.lengthsMs === why.lengthsMs ? 2 * current.lengthMs : first;
    begin(why, Math.min(longest, Math.max(nextMs, minMs, first)), detail);
  }

  function end({ hasResponded = false } = {}): void {
    failingKeys.clear();
    refusedKey = undefined;
    if (current === undefined) return;
    changes += 1;
    current = undefined;
    onChange?.(undefined, hasResponded);
  }

  function msLeft(): number {
    return current === undefined ? 0 : Math.max(0, current.untilMs - clock.monotonic());
  }

  function isOnHold(): boolean {
    return current !== undefined && current.why.lengthsMs === undefined;
  }

  /** The pause that lasts, or that waits for its trial. */
  function findCurrent(): CurrentPause | undefined {
    if (isOnHold() && msLeft() === 0) end();
    return current;
  }

  /** The pause that lasts. */
  function findLasting(): CurrentPause | undefined {
    const found = findCurrent();
    return msLeft() > 0 ? found : undefined;
  }

  function pausedError({ why }: CurrentPause): PausedError {
    return new PausedError(why.reason, why.client(label), Math.max(MIN_RETRY_AFTER_MS, msLeft()));
  }

  function stateOf({ why, detail, sinceMs, untilMs: until }: CurrentPause): PauseState {
    const untilMs = clock.now() + until - clock.monotonic();
    const cause = detail === undefined ? '' : ` (${detail})`;
    const next = msLeft() > 0 ? `next call at ${formatTime(untilMs)}` : 'the next request tries again';
    const description = `${label} ${why.operator} since ${formatTime(sinceMs)}${cause}; ${next}`;
    return { reason: why.reason, untilMs, description };
  }

  function succeed(): void {
    hasSucceeded = true;
    end({ hasResponded: true });
  }

  function refuse(detail: string, retryAfterMs?: number): RefusedError {
    const isKnown = current?.why === REFUSED && msLeft() > 0;
    if (!isKnown) beginOrDouble(REFUSED, detail, retryAfterMs);
    const options = { cause: new Error(detail), retryAfterMs: msLeft() };
    return new RefusedError('upstream_unavailable', REFUSED.client(label), options);
  }

  /** @returns whether the call is the trial */
  function admit(): boolean {
    const paused = findCurrent();
    if (paused === undefined) return false;
    if (isTrying || msLeft() > 0) throw pausedError(paused);
    isTrying = true;
    return true;
  }

  /** Pauses the source if a trial or enough calls failed. A trial that failed for its own key leaves the trial to the next call. */
  function countFailure(key: string, error: AppError, isTrial: boolean): void {
    failingKeys.add(key);
    const isEnough = failingKeys.size >= FAILING_KEYS || (isTrial && !isKeyFailure(error));
    if (isEnough && !isOnHold()) beginOrDouble(reasonFor(error), describeFailure(error));
  }

  function reasonFor(error: AppError): TrialReason {
    // It cannot be told whether the refusal has ended.
    if (current?.why === REFUSED) return REFUSED;
    // A time-out does not show that the source can be reached.
    const isStillUnreachable = current?.why === UNREACHABLE && error.code === 'upstream_timeout';
    return error instanceof ConnectionError || isStillUnreachable ? UNREACHABLE : FAILING;
  }

  /** Counts a call that ended with an error, as a failure or as a success. @returns the error for the caller */
  function countError(key: string, error: AppError, isTrial: boolean): AppError {
    if (error instanceof RefusedError) return error;
    if (error instanceof UnexplainedRefusalError) {
      refusedKey ??= key;
      if (refusedKey !== key) return refuse(error.detail);
    }
    if (!isIndeterminate(error) || isInconclusive(error)) succeed();
    else countFailure(key, error, isTrial);
    return error;
  }

  async function run<T>(key: string, work: () => Promise<T>, signal: AbortSignal): Promise<T> {
    const known = failedKeys.find(key);
    if (known !== undefined) throw known;
    const isTrial = admit();
    const begunAt = changes;
    try {
      const value = await work();
      if (begunAt === changes) succeed();
      return value;
    } catch (error) {
      if (!(error instanceof AppError) || error instanceof LocalLimitError || signal.aborted) throw error;
      const failure = begunAt === changes ? countError(key, error, isTrial) : error;
      throw isKeyFailure(failure) ? failedKeys.remember(key, failure) : failure;
    } finally {
      if (isTrial) isTrying = false;
    }
  }

  return {
    run,
    check() {
      const paused = findLasting();
      if (paused !== undefined) throw pausedError(paused);
    },
    refuse,
    succeed,
    loseContact(detail) {
      if (current === undefined && !hasSucceeded) begin(UNREACHABLE, 0, detail);
      else if (current?.why === UNREACHABLE && msLeft() === 0) current = { ...current, untilMs: clock.monotonic() };
    },
    regainContact() {
      if (current?.why === UNREACHABLE) end();
    },
    hold: (why, ms) => pausedError(begin(why, ms)),
    state() {
      const paused = findCurrent();
      return paused && stateOf(paused);
    },
    stats: failedKeys.stats,
  };
}

/** In UTC, to the second. */
function formatTime(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19).replace('T', ' ')} UTC`;
}
