import { LRUCache } from 'lru-cache';
import type { Clock } from './clock.ts';
import type { HolderStats } from './holders.ts';
import type { Logger } from './logger.ts';
import { currentRequestId } from './work.ts';

export interface Trouble {
  readonly level: 'warn' | 'error';
  /** What makes two troubles the same. */
  readonly key: string;
  readonly message: string;
  readonly fields: object;
  /** True for the end of a request, which an earlier trouble of the request may explain. */
  readonly isConsequence?: boolean;
  /** By default that of the request whose work is being done. */
  readonly requestId?: string;
}

/** Log lines about failures, which may come by the thousand. */
export interface TroubleLog {
  /**
   * Logs the first of equal troubles in a minute and counts the others; logs nothing more about a request that has a
   * line already. What gets no line is logged at level debug. Answers whether there is a line.
   */
  report(trouble: Trouble): boolean;
  /** Logs no consequence of the current request's troubles, because the log has the reason already. */
  markExplained(): void;
  /** Logs, of what was only counted in the last minute, the latest with the count (`repeated`). */
  summarize(): void;
  stats(): HolderStats;
}

interface Repeats {
  loggedAtMs: number;
  count: number;
  latest: Trouble;
}

const INTERVAL_MS = 60_000;
/** Keys may hold foreign text. What is dropped is logged anew. */
const MAX_KEYS = 200;
const MAX_KEY_CHARACTERS = 300;
const MAX_REQUESTS = 1_000;

export function createTroubleLog({ logger, clock }: { logger: Logger; clock: Clock }): TroubleLog {
  const known = new LRUCache<string, Repeats>({ max: MAX_KEYS });
  const requests = new LRUCache<string, 'logged' | 'explained'>({ max: MAX_REQUESTS });

  function isDue({ loggedAtMs }: Repeats): boolean {
    return clock.monotonic() - loggedAtMs >= INTERVAL_MS;
  }

  /** Answers whether it should be logged now, and with which count. */
  function count(trouble: Trouble): number | undefined {
    const key = trouble.key.slice(0, MAX_KEY_CHARACTERS);
    const repeats = known.get(key);
    if (repeats !== undefined && !isDue(repeats)) {
      repeats.count += 1;
      repeats.latest = trouble;
      return undefined;
    }
    known.set(key, { loggedAtMs: clock.monotonic(), count: 0, latest: trouble });
    return repeats?.count ?? 0;
  }

  function write({ level, fields, message }: Trouble, repeated: number): void {
    logger[level]({ ...fields, ...(repeated > 0 && { repeated }) }, message);
  }

  return {
    report(trouble) {
      const { requestId = currentRequestId(), fields, message, isConsequence = false } = trouble;
      const state = requestId === undefined ? undefined : requests.get(requestId);
      const hasLine = state === 'logged' || (state === 'explained' && isConsequence);
      const repeated = hasLine ? undefined : count(trouble);
      if (repeated === undefined) {
        logger.debug(fields, message);
        return false;
      }
      if (requestId !== undefined) requests.set(requestId, 'logged');
      write(trouble, repeated);
      return true;
    },
    markExplained() {
      const requestId = currentRequestId();
      if (requestId !== undefined && !requests.has(requestId)) requests.set(requestId, 'explained');
    },
    summarize() {
      for (const repeats of known.values()) {
        if (repeats.count === 0 || !isDue(repeats)) continue;
        write(repeats.latest, repeats.count);
        repeats.loggedAtMs = clock.monotonic();
        repeats.count = 0;
      }
    },
    stats: () => ({ entries: known.size + requests.size, maxEntries: MAX_KEYS + MAX_REQUESTS }),
  };
}
