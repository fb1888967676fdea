import { LRUCache } from 'lru-cache';
import type { Clock } from './clock.ts';
import type { Logger } from './logger.ts';

export interface FailureReport {
  readonly level: 'info' | 'warn' | 'error';
  /** Events with the same key are equal. */
  readonly key: string;
  readonly message: string;
  readonly fields: object;
}

export type FailureLog = ReturnType<typeof createFailureLog>;

interface Repeats {
  loggedAtMs: number;
  count: number;
  latest: FailureReport;
}

const INTERVAL_MS = 60_000;
/** Keys may contain foreign text. A dropped key is logged again. */
const MAX_KEYS = 200;
const MAX_KEY_CHARACTERS = 300;

/** Log lines about failures, of which there may be thousands. */
export function createFailureLog({ logger, clock }: { logger: Logger; clock: Clock }) {
  const known = new LRUCache<string, Repeats>({ max: MAX_KEYS });

  function isDue({ loggedAtMs }: Repeats): boolean {
    return clock.monotonic() - loggedAtMs >= INTERVAL_MS;
  }

  function write({ level, fields, message }: FailureReport, repeated: number): void {
    logger[level]({ ...fields, ...(repeated > 0 && { repeated }) }, message);
  }

  return {
    /**
     * Logs the first of equal events in a minute, and counts the others, which are logged at level debug. Returns whether there
     * is a line.
     */
    report(event: FailureReport): boolean {
      const key = event.key.slice(0, MAX_KEY_CHARACTERS);
      const repeats = known.get(key);
      if (repeats !== undefined && !isDue(repeats)) {
        repeats.count += 1;
        repeats.latest = event;
        logger.debug(event.fields, event.message);
        return false;
      }
      known.set(key, { loggedAtMs: clock.monotonic(), count: 0, latest: event });
      write(event, repeats?.count ?? 0);
      return true;
    },
    /** For events that were only counted in the last minute: logs the latest with the count (`repeated`). */
    summarize(): void {
      // The latest event last, because it has the present state.
      for (const repeats of [...known.values()].toReversed()) {
        if (repeats.count === 0 || !isDue(repeats)) continue;
        write(repeats.latest, repeats.count);
        repeats.loggedAtMs = clock.monotonic();
        repeats.count = 0;
      }
    },
  };
}
