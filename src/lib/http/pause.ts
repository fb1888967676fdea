import { AppError, isInconclusive, isIndeterminate, isKeyFailure } from '../../domain/errors.ts';
import type { Clock } from '../clock.ts';
import { createFailedKeys } from '../failed-keys.ts';
import type { HolderStats } from '../holders.ts';
import { describeFailure } from '../logger.ts';
import { LocalLimitError } from './call-budget.ts';
import { ConnectionError } from './http-client.ts';

/** Times are milliseconds since 1970. */
export interface PauseState {
  /** `refused`, `failing`, `unreachable`, or that of a `hold`. */
  readonly reason: string;
  readonly sinceMs: number;
  /** When the next call may be made. It may be in the past: the next call ends the pause or continues it. */
  readonly untilMs: number;
  /** Reason, beginning and end, as one sentence for the operator. */
  readonly description: string;
}

/** Why a source is paused. */
export interface PauseReason {
  readonly reason: string;
  /** What the source does, after its label. */
  readonly operator: string;
  readonly client: (label: string) => string;
  /** The first pause of a series, and the longest: each failed trial doubles it. Absent for a `hold`. */
  readonly lengthsMs?: { readonly first: number; readonly longest: number };
}

interface PauseOptions {
  readonly clock: Clock;
  /** The source as the subject of a sentence. */
  readonly label: string;
  /** Called when a pause begins or gets another reason, and with `undefined` when it ends. */
  readonly onChange?: (state: PauseState | undefined) => void;
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

/** The source refused this address, for which its pause has begun. The call counts for no other pause. */
class RefusedError extends AppError {
  override name = 'RefusedError';
}

/**
 * The source refused the request without saying why. One such response may concern its key. The second one in a row, for
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
const SOON_MS = 1_000;

const FAILING_MS = { first: 10_000, longest: 300_000 };

interface SeriesReason extends PauseReason {
  readonly lengthsMs: NonNullable<PauseReason['lengthsMs']>;
}

const REFUSED: SeriesReason = {
  reason: 'refused',
  operator: 'refuses this address',
  client: (label) => `${label} refuses this service at the moment.`,
  lengthsMs: { first: 60_000, longest: 3_600_000 },
};
const FAILING: SeriesReason = {
  reason: 'failing',
  operator: 'fails every call',
  client: (label) => `Calls to ${label} are paused after failures.`,
  lengthsMs: FAILING_MS,
};
const UNREACHABLE: SeriesReason = {
  reason: 'unreachable',
  operator: 'cannot be reached',
  client: (label) => `${label} cannot be reached at the moment.`,
  lengthsMs: FAILING_MS,
};

interface Current {
  readonly why: PauseReason;
  /** What the source did. */
  readonly detail: string | undefined;
  /** By the wall clock, for people. */
  readonly sinceMs: number;
  readonly lengthMs: number;
  /** Monotonic. */
  readonly untilMs: number;
}

export interface Pause {
  /**
   * @param key identifies the request; two calls with the same key would get the same response
   * @throws PausedError during a pause; the remembered failure of the key; otherwise the error of `work`
   */
  run<T>(key: string, work: () => Promise<T>, signal: AbortSignal): Promise<T>;
  /** Throws a `PausedError` while the pause lasts, for calls that no `run` encloses, and the further calls of a refused one. */
  check(): void;
  /** True if `check` would throw. */
  isPaused(): boolean;
  /**
   * The source refuses this address. Responses to calls that were under way when the pause began do not prolong it.
   *
   * @param detail what it did
   * @param retryAfterMs the time that it named
   * @returns the error of the refused call
   */
  refuse(detail: string, retryAfterMs?: number): RefusedError;
  /** Its calls fail, by the judgement of the caller. Failures during the pause do not prolong it. */
  fail(detail: string): void;
  /** A call succeeded. */
  succeed(): void;
  /** No connection could be opened, before any call. The next call is the trial. Ignored if a call has succeeded before. */
  loseContact(detail: string): void;
  /** A connection could be opened. */
  regainContact(): void;
  /** No call is useful for this many milliseconds. @returns the error of calls meanwhile */
  hold(why: PauseReason, ms: number): PausedError;
  /** For example because calls are made in another way: earlier failures say nothing about them. */
  forgetFailures(): void;
  /** `undefined` while the source is ready. */
  state(): PauseState | undefined;
  stats(): HolderStats;
}

/**
 * Says whether a source is ready or paused, until when, and why:
 * - `refused`: it refuses this address. At once, for a minute, doubled to an hour.
 * - `failing`: its last calls, of five different keys, failed, however slowly they came. For 10 s, doubled to 5 minutes.
 * - `unreachable`: the same, if there was no connection.
 *
 * A `hold` has a reason of its own, and lasts for the time that its caller knows.
 *
 * After any other pause one call is the trial. Others wait for its result: a success ends the pause, a failure doubles it.
 * A failure that concerns one key is remembered for 15 s: meanwhile calls for the key get the same failure, so it counts once.
 * A readable response about the key is a success: "not found", "not available in your country". Calls that their caller
 * aborted, local limits, refusals for which another pause has begun, and bugs do not count.
 */
export function createPause({ clock, label, onChange }: PauseOptions): Pause {
  const failedKeys = createFailedKeys({ clock });
  let current: Current | undefined;
  let isTrying = false;
  let hasSucceeded = false;
  /** The keys that failed since the last success. */
  const failing = new Set<string>();
  /** The first key that was refused without an explanation since the last success. */
  let refusedKey: string | undefined;
  // A call that began before the last change says nothing about the time after it.
  let changes = 0;

  function begin(why: PauseReason, lengthMs: number, detail?: string): Current {
    const isNew = current?.why.reason !== why.reason;
    const sinceMs = isNew || current === undefined ? clock.now() : current.sinceMs;
    const begun = { why, detail, sinceMs, lengthMs, untilMs: clock.monotonic() + lengthMs };
    current = begun;
    changes += 1;
    failing.clear();
    if (isNew) onChange?.(stateOf(begun));
    return begun;
  }

  function end(): void {
    failing.clear();
    refusedKey = undefined;
    if (current === undefined) return;
    changes += 1;
    current = undefined;
    onChange?.(undefined);
  }

  function succeed(): void {
    hasSucceeded = true;
    end();
  }

  function beginOrDouble(why: SeriesReason, detail: string, minMs = 0): void {
    const { first, longest } = why.lengthsMs;
    // Failing calls and lost contact are one series.
    const nextMs = current?.why.lengthsMs === why.lengthsMs ? 2 * current.lengthMs : first;
    begin(why, Math.min(longest, Math.max(first, nextMs, minMs)), detail);
  }

  /** A time-out of a source that could not be reached says nothing new. */
  function reasonOf(error: AppError): SeriesReason {
    const isStillUnreachable = current?.why === UNREACHABLE && error.code === 'upstream_timeout';
    return error instanceof ConnectionError || isStillUnreachable ? UNREACHABLE : FAILING;
  }

  function refuse(detail: string, retryAfterMs?: number): RefusedError {
    const isKnown = current?.why === REFUSED && msLeft() > 0;
    if (!isKnown) beginOrDouble(REFUSED, detail, retryAfterMs);
    const options = { cause: new Error(detail), retryAfterMs: msLeft() };
    return new RefusedError('upstream_unavailable', REFUSED.client(label), options);
  }

  function msLeft(): number {
    return current === undefined ? 0 : Math.max(0, current.untilMs - clock.monotonic());
  }

  function pausedError({ why }: Current): PausedError {
    return new PausedError(why.reason, why.client(label), Math.max(SOON_MS, msLeft()));
  }

  function findCurrent(): Current | undefined {
    if (isHeld() && msLeft() === 0) end();
    return current;
  }

  /** A hold ends at its time without a trial. */
  function isHeld(): boolean {
    return current !== undefined && current.why.lengthsMs === undefined;
  }

  function stateOf({ why, detail, sinceMs, untilMs: until }: Current): PauseState {
    const untilMs = clock.now() + until - clock.monotonic();
    const cause = detail === undefined ? '' : ` (${detail})`;
    const next = msLeft() > 0 ? `next call at ${formatTime(untilMs)}` : 'the next request tries again';
    const description = `${label} ${why.operator} since ${formatTime(sinceMs)}${cause}; ${next}`;
    return { reason: why.reason, sinceMs, untilMs, description };
  }

  /** @returns whether the call is the trial */
  function admit(): boolean {
    const paused = findCurrent();
    if (paused === undefined) return false;
    if (isTrying || msLeft() > 0) throw pausedError(paused);
    isTrying = true;
    return true;
  }

  /** Counts a failed call. A failed trial continues a refusal. A trial that failed for its own key leaves the next call to be the trial. */
  function countFailure(key: string, error: AppError, isTrial: boolean): void {
    failing.add(key);
    const isEnough = failing.size >= FAILING_KEYS || (isTrial && !isKeyFailure(error));
    if (!isEnough || isHeld()) return;
    beginOrDouble(current?.why === REFUSED ? REFUSED : reasonOf(error), describeFailure(error));
  }

  /** @returns the error for the caller */
  function settle(key: string, error: AppError, isTrial: boolean): AppError {
    if (error instanceof RefusedError) return error;
    if (error instanceof UnexplainedRefusalError) {
      refusedKey ??= key;
      if (refusedKey !== key) return refuse(error.detail);
    }
    if (!isIndeterminate(error) || isInconclusive(error)) succeed();
    else countFailure(key, error, isTrial);
    return error;
  }

  /** Throws while the pause lasts. Trials, and calls that belong to them, come after it. */
  function check(): void {
    const paused = findCurrent();
    if (paused !== undefined && msLeft() > 0) throw pausedError(paused);
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
      const failure = begunAt === changes ? settle(key, error, isTrial) : error;
      throw isKeyFailure(failure) ? failedKeys.remember(key, failure) : failure;
    } finally {
      if (isTrial) isTrying = false;
    }
  }

  return {
    run,
    check,
    refuse,
    succeed,
    isPaused: () => findCurrent() !== undefined && msLeft() > 0,
    fail(detail) {
      if (msLeft() === 0) beginOrDouble(FAILING, detail);
    },
    loseContact(detail) {
      if (current === undefined && !hasSucceeded) begin(UNREACHABLE, 0, detail);
    },
    regainContact() {
      if (current?.why === UNREACHABLE) end();
    },
    hold: (why, ms) => pausedError(begin(why, ms)),
    forgetFailures() {
      failing.clear();
      failedKeys.forget();
      if (current?.why === FAILING) end();
    },
    state() {
      const paused = findCurrent();
      return paused === undefined ? undefined : stateOf(paused);
    },
    stats: failedKeys.stats,
  };
}

/** In UTC, to the second. */
function formatTime(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19).replace('T', ' ')} UTC`;
}
