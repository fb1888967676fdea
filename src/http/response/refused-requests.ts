import { LRUCache } from 'lru-cache';
import type { Clock } from '../../lib/clock.ts';
import type { Logger } from '../../lib/logger.ts';
import { entryLimit } from '../../lib/memory-cache.ts';
import { truncateAddress } from '../request/ip-addresses.ts';
import type { FinishedResponse } from './response-reporter.ts';

/** Requests that the rate limit refused. */
export interface RefusedRequests {
  note(request: Pick<FinishedResponse, 'requestId' | 'client'>): void;
  /** Logs one line for the requests since the last call, if there were any. */
  summarize(): void;
}

const MAX_NETWORKS = 1_000;
const SHOWN_NETWORKS = 10;

interface RefusedRequestsOptions {
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Shows whose requests were refused, without a log line for each: a flood must not fill the log. */
export function createRefusedRequests({ clock, logger }: RefusedRequestsOptions): RefusedRequests {
  /** The number of requests of each network. Those without a request for the longest time are dropped. */
  const networks = new LRUCache<string, number>(entryLimit(MAX_NETWORKS));
  let requests = 0;
  let sinceMs = 0;
  let lastRequestId = '';

  return {
    note({ client, requestId }) {
      const network = truncateAddress(client);
      networks.set(network, (networks.get(network) ?? 0) + 1);
      if (requests === 0) sinceMs = clock.now();
      requests += 1;
      lastRequestId = requestId;
    },
    summarize() {
      if (requests === 0) return;
      const most = [...networks].sort(([, a], [, b]) => b - a).slice(0, SHOWN_NETWORKS);
      const since = new Date(sinceMs).toISOString();
      const fields = { requests, since, networks: Object.fromEntries(most), lastRequestId };
      logger.info(fields, 'requests over the rate limit (429) in the last minute');
      requests = 0;
      networks.clear();
    },
  };
}
