import { LRUCache } from 'lru-cache';
import type { Clock } from '../../lib/clock.ts';
import type { Logger } from '../../lib/logger.ts';
import { entryLimit } from '../../lib/memory-cache.ts';
import { truncateAddress } from '../request/ip-addresses.ts';
import type { FinishedResponse } from './response-reporter.ts';

type FinishedRequest = Pick<FinishedResponse, 'status' | 'requestId' | 'client' | 'failure'>;

/** Requests that the rate limit refused (429) or that failed (5xx). */
export interface UnservedRequests {
  /** @param request refused, or failed */
  note(request: FinishedRequest): void;
  /** Logs one line for the refused and one for the failed requests since the last call, if there were any. */
  summarize(): void;
}

/** The refused or the failed requests since the last summary. */
interface Kind {
  readonly message: string;
  readonly level: 'info' | 'warn';
  count: number;
  sinceMs: number;
  lastRequestId: string;
  /** The number of requests of each network. Those without a request for the longest time are dropped. */
  readonly networks: LRUCache<string, number>;
  readonly codes: Map<string, number>;
}

const MAX_NETWORKS = 1_000;
const SHOWN_NETWORKS = 10;

interface UnservedRequestsOptions {
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Shows which requests were not served, and why, without a log line for each: a flood must not fill the log. */
export function createUnservedRequests({ clock, logger }: UnservedRequestsOptions): UnservedRequests {
  const refused = createKind('info', 'requests over the rate limit (429) in the last minute');
  const failed = createKind('warn', 'requests that failed (5xx) in the last minute');

  function countIn(kind: Kind, { client, requestId, failure }: FinishedRequest): void {
    const network = truncateAddress(client);
    if (kind.count === 0) kind.sinceMs = clock.now();
    kind.count += 1;
    kind.lastRequestId = requestId;
    kind.networks.set(network, (kind.networks.get(network) ?? 0) + 1);
    if (failure !== undefined) kind.codes.set(failure.code, (kind.codes.get(failure.code) ?? 0) + 1);
  }

  function logSummary({ level, message, count, sinceMs, networks, codes, lastRequestId }: Kind): void {
    const most = [...networks].sort(([, a], [, b]) => b - a).slice(0, SHOWN_NETWORKS);
    const fields = {
      requests: count,
      since: new Date(sinceMs).toISOString(),
      ...(codes.size > 0 && { codes: Object.fromEntries(codes) }),
      networks: Object.fromEntries(most),
      lastRequestId,
    };
    logger[level](fields, message);
  }

  return {
    note(request) {
      countIn(request.status === 429 ? refused : failed, request);
    },
    summarize() {
      for (const kind of [refused, failed]) {
        if (kind.count === 0) continue;
        logSummary(kind);
        kind.count = 0;
        kind.networks.clear();
        kind.codes.clear();
      }
    },
  };
}

function createKind(level: Kind['level'], message: string): Kind {
  return {
    level,
    message,
    count: 0,
    sinceMs: 0,
    lastRequestId: '',
    networks: new LRUCache(entryLimit(MAX_NETWORKS)),
    codes: new Map(),
  };
}
