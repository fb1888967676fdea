import { LRUCache } from 'lru-cache';
import type { Clock } from './clock.ts';
import type { Logger } from './logger.ts';
import { entryLimit } from './memory-cache.ts';
import type { BoundedStats } from './metrics.ts';
import { currentRequestId } from './work.ts';

interface LogEvent {
  readonly level: 'info' | 'warn' | 'error';
  /** Events with the same key are equal. */
  readonly key: string;
  readonly message: string;
  readonly fields: object;
}

export interface FailureReport extends LogEvent {
  /** True for the end of a request, which an earlier failure of the request may explain. */
  readonly isConsequence?: boolean;
  /** Default: the current request. */
  readonly requestId?: string;
}

/** Log lines about failures, of which there may be thousands. */
export interface FailureLog {
  /**
   * Logs the first of equal events in a minute, and counts the others, which are logged at level debug. Returns whether there is
   * a line.
   */
  log(event: LogEvent): boolean;
  /** The same for a failure, which may belong to a request: a request that has a line gets no other. */
  report(failure: FailureReport): boolean;
  /** Logs no consequence of the current request's failures, because the log already has the reason. */
  markExplained(): void;
  /** For events that were only counted in the last minute: logs the latest with the count (`repeated`). */
  summarize(): void;
  stats(): BoundedStats;
}

interface Repeats {
  loggedAtMs: number;
  count: number;
  latest: LogEvent;
}

const INTERVAL_MS = 60_000;
/** Keys may contain foreign text. A dropped key is logged again. */
const MAX_KEYS = 200;
const MAX_KEY_CHARACTERS = 300;
const MAX_REQUESTS = 1_000;

export function createFailureLog({ logger, clock }: { logger: Logger; clock: Clock }): FailureLog {
  const known = new LRUCache<string, Repeats>({ max: MAX_KEYS });
  const requests = new LRUCache<string, 'logged' | 'explained'>(entryLimit(MAX_REQUESTS));

  function isDue({ loggedAtMs }: Repeats): boolean {
    return clock.monotonic() - loggedAtMs >= INTERVAL_MS;
  }

  /** Returns how many equal events were not logged if this one should be logged now, otherwise `undefined`. */
  function count(event: LogEvent): number | undefined {
    const key = event.key.slice(0, MAX_KEY_CHARACTERS);
    const repeats = known.get(key);
    if (repeats !== undefined && !isDue(repeats)) {
      repeats.count += 1;
      repeats.latest = event;
      return undefined;
    }
    known.set(key, { loggedAtMs: clock.monotonic(), count: 0, latest: event });
    return repeats?.count ?? 0;
  }

  function write({ level, fields, message }: LogEvent, repeated: number): void {
    logger[level]({ ...fields, ...(repeated > 0 && { repeated }) }, message);
  }

  function log(event: LogEvent): boolean {
    const repeated = count(event);
    if (repeated === undefined) logger.debug(event.fields, event.message);
    else write(event, repeated);
    return repeated !== undefined;
  }

  return {
    log,
    report(failure) {
      const { requestId = currentRequestId(), fields, message, isConsequence = false } = failure;
      const state = requestId === undefined ? undefined : requests.get(requestId);
      if (state === 'logged' || (state === 'explained' && isConsequence)) {
        logger.debug(fields, message);
        return false;
      }
      const isLogged = log(failure);
      if (isLogged && requestId !== undefined) requests.set(requestId, 'logged');
      return isLogged;
    },
    markExplained() {
      const requestId = currentRequestId();
      if (requestId !== undefined && !requests.has(requestId)) requests.set(requestId, 'explained');
    },
    summarize() {
      // The latest event last, because it has the present state.
      for (const repeats of [...known.values()].toReversed()) {
        if (repeats.count === 0 || !isDue(repeats)) continue;
        write(repeats.latest, repeats.count);
        repeats.loggedAtMs = clock.monotonic();
        repeats.count = 0;
      }
    },
    stats: () => ({ entries: known.size + requests.size, maxEntries: MAX_KEYS + MAX_REQUESTS }),
  };
}
