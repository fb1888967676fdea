import { AppError, isIndeterminate, isKeyFailure } from '../../domain/errors.ts';
import type { PauseReason, PauseState } from '../../domain/source-status.ts';
import type { Clock } from '../clock.ts';
import { createFailedKeys } from '../failed-keys.ts';
import { describeFailure } from '../logger.ts';
import { LocalLimitError } from './call-budget.ts';
import type { HttpClient } from './client.ts';

export type Pause = ReturnType<typeof createPause>;

export interface PauseOptions {
  readonly clock: Clock;
  /** The source as the subject of a sentence. */
  readonly label: string;
  /** Called when a pause begins, and with `undefined` when the source is asked again. */
  readonly onChange?: (state: PauseState | undefined) => void;
}

/** A call that was not made because its source is paused. */
export class PausedError extends LocalLimitError {
  override name = 'PausedError';
  readonly reason: PauseReason;

  constructor(reason: PauseReason, message: string, retryAfterMs: number) {
    super(message, retryAfterMs);
    this.reason = reason;
  }
}

/** The first pause of a series, and the longest. Each failed trial doubles it. */
const LENGTHS_MS = {
  refused: { first: 60_000, longest: 3_600_000 },
  failing: { first: 10_000, longest: 300_000 },
} as const;

/** The source is paused when its last calls failed for this many different keys. */
const FAILING_KEYS = 5;
/** The shortest `Retry-After`, for example during a trial. */
const SOON_MS = 1_000;

const WORDS: Record<PauseReason, { readonly operator: string; readonly client: (label: string) => string }> = {
  refused: {
    operator: 'refuses this address',
    client: (label) => `${label} refuses this service at the moment.`,
  },
  quota: {
    operator: 'has no quota left',
    client: (label) => `The daily quota of the ${label} is spent.`,
  },
  failing: {
    operator: 'fails every call',
    client: (label) => `Calls to ${label} are paused after failures.`,
  },
};

type Series = keyof typeof LENGTHS_MS;

interface Current {
  readonly reason: PauseReason;
  /** What the source did. */
  readonly detail: string | undefined;
  /** By the wall clock, for people. */
  readonly sinceMs: number;
  lengthMs: number;
  /** Monotonic. */
  untilMs: number;
}

/**
 * Says whether a source is asked or paused, until when, and why:
 * - `refused`: it refuses this address. At once, for a minute, doubled to an hour.
 * - `quota`: its daily quota is spent. Until the quota is renewed.
 * - `failing`: its last calls, of five different keys, failed, however slowly they came. For 10 s, doubled to 5 minutes.
 *
 * After a pause one call is the trial. Others wait for its result: a success ends the pause, a failure doubles it.
 * A failure that concerns one key is remembered for 15 s: meanwhile calls for the key get the same failure, so it counts once.
 * "No such channel" is a success. Calls that their caller aborted, local limits and bugs do not count.
 */
export function createPause({ clock, label, onChange }: PauseOptions) {
  const failedKeys = createFailedKeys({ clock });
  let current: Current | undefined;
  let isTrying = false;
  /** The keys that failed since the last success. */
  const failing = new Set<string>();
  // A call that began before the last change says nothing about the time after it.
  let changes = 0;

  function begin(reason: PauseReason, lengthMs: number, detail?: string): void {
    const isNew = current?.reason !== reason;
    const sinceMs = isNew || current === undefined ? clock.now() : current.sinceMs;
    current = { reason, detail, sinceMs, lengthMs, untilMs: clock.monotonic() + lengthMs };
    changes += 1;
    failing.clear();
    if (isNew) onChange?.(describe(current));
  }

  function end(): void {
    failing.clear();
    if (current === undefined) return;
    changes += 1;
    current = undefined;
    onChange?.(undefined);
  }

  function beginSeries(series: Series, detail: string, minMs = 0): void {
    const { first, longest } = LENGTHS_MS[series];
    const nextMs = current?.reason === series ? 2 * current.lengthMs : first;
    begin(series, Math.min(longest, Math.max(nextMs, minMs)), detail);
  }

  /** A failed trial continues the pause, for the reason that it has. */
  function failTrial(detail: string): void {
    if (current === undefined || current.reason === 'quota') return;
    beginSeries(current.reason, detail);
  }

  function msLeft(): number {
    return current === undefined ? 0 : Math.max(0, current.untilMs - clock.monotonic());
  }

  function pausedError({ reason }: Current): PausedError {
    return new PausedError(reason, WORDS[reason].client(label), Math.max(SOON_MS, msLeft()));
  }

  /** A quota needs no trial: it is renewed at its time. */
  function findCurrent(): Current | undefined {
    if (current?.reason === 'quota' && msLeft() === 0) end();
    return current;
  }

  function describe({ reason, detail, sinceMs, untilMs: until }: Current): PauseState {
    const untilMs = clock.now() + until - clock.monotonic();
    const cause = detail === undefined ? '' : ` (${detail})`;
    const next = msLeft() > 0 ? `next call at ${formatTime(untilMs)}` : 'the next request tries again';
    const description = `${label} ${WORDS[reason].operator} since ${formatTime(sinceMs)}${cause}; ${next}`;
    return { reason, sinceMs, untilMs, description };
  }

  /** @returns whether the call is the trial */
  function admit(): boolean {
    const paused = findCurrent();
    if (paused === undefined) return false;
    if (isTrying || msLeft() > 0) throw pausedError(paused);
    isTrying = true;
    return true;
  }

  function countFailure(key: string, error: AppError): void {
    failing.add(key);
    if (failing.size < FAILING_KEYS) return;
    if (current === undefined) beginSeries('failing', describeFailure(error));
    else failTrial(describeFailure(error));
  }

  function settle(key: string, error: unknown, isTrial: boolean): void {
    if (!isIndeterminate(error)) end();
    else if (isTrial && !isKeyFailure(error)) failTrial(describeFailure(error));
    // A trial that failed for its own key leaves the next call to be the trial, until five keys have failed.
    else countFailure(key, error);
  }

  /** Throws while the pause lasts. Trials, and calls that belong to them, come after it. */
  function check(): void {
    const paused = findCurrent();
    if (paused !== undefined && msLeft() > 0) throw pausedError(paused);
  }

  return {
    /**
     * @param key identifies the request; two calls with the same key would get the same response
     * @throws PausedError during a pause; the remembered failure of the key; otherwise the error of `work`
     */
    async run<T>(key: string, work: () => Promise<T>, signal: AbortSignal): Promise<T> {
      const known = failedKeys.find(key);
      if (known !== undefined) throw known;
      const isTrial = admit();
      const begunAt = changes;
      try {
        const value = await work();
        if (begunAt === changes) end();
        return value;
      } catch (error) {
        const isCounted = error instanceof AppError && !(error instanceof LocalLimitError) && !signal.aborted;
        if (isCounted && begunAt === changes) settle(key, error, isTrial);
        throw isCounted && isKeyFailure(error) ? failedKeys.remember(key, error) : error;
      } finally {
        if (isTrial) isTrying = false;
      }
    },

    /**
     * The source refuses this address. Responses to calls that were under way when the pause began do not prolong it.
     *
     * @param detail what it did
     * @param retryAfterMs the time that it named
     * @returns what is left of the pause, in milliseconds
     */
    refuse(detail: string, retryAfterMs?: number): number {
      const isKnown = current?.reason === 'refused' && msLeft() > 0;
      if (!isKnown) beginSeries('refused', detail, retryAfterMs);
      return msLeft();
    },

    /** Its calls fail, by the judgement of the caller. Failures during the pause do not prolong it. */
    fail(detail: string): void {
      if (msLeft() === 0) beginSeries('failing', detail);
    },

    /** A call succeeded. */
    succeed: end,

    /** True if no call may be made now. */
    isPaused: () => findCurrent() !== undefined && msLeft() > 0,

    /** The daily quota is spent for this many milliseconds. */
    spend(ms: number): PausedError {
      begin('quota', ms);
      return pausedError(current as Current);
    },

    check,

    /** The client, which makes no call during a pause: calls that no `run` encloses, and the further calls of a refused one. */
    guard(http: HttpClient, reason?: PauseReason): HttpClient {
      return {
        async request(request) {
          if (reason === undefined || current?.reason === reason) check();
          return http.request(request);
        },
        close: () => http.close(),
      };
    },

    /** For example because calls are made in another way: earlier failures say nothing about them. */
    forgetFailures(): void {
      failing.clear();
      failedKeys.forget();
      if (current?.reason === 'failing') end();
    },

    /** `undefined` while the source is asked. */
    state(): PauseState | undefined {
      const paused = findCurrent();
      return paused === undefined ? undefined : describe(paused);
    },

    stats: failedKeys.stats,
  };
}

/** In UTC, to the second. */
function formatTime(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19).replace('T', ' ')} UTC`;
}
