import { Counter } from '@prometheus-io/client';
import type { Config } from '../config/settings.ts';
import { createConnections } from '../http/connections.ts';
import { createRateLimitStep } from '../http/request/admission.ts';
import { createClientIdentification } from '../http/request/client-identification.ts';
import type { Endpoint } from '../http/request/context.ts';
import type { MicroCache } from '../http/response/micro-cache.ts';
import { createResponseReporter } from '../http/response/response-reporter.ts';
import { createPublicListener } from '../http/server.ts';
import {
  type CloseReason,
  createOpenConnections,
  maxConnectionsFor,
  type OpenConnections,
} from '../lib/http/open-connections.ts';
import type { ResponseWriter } from '../lib/http/response-writer.ts';
import { addBoundGauges, addCounter, addGauge } from '../lib/metrics.ts';
import type { RedisConnection } from '../lib/redis/connection.ts';
import { RESOURCE_LIMITS, readOpenFilesLimit } from '../lib/resource-limits.ts';
import type { Runtime } from '../lib/runtime.ts';
import { createFallbackRateLimiter } from '../rate-limit/fallback.ts';
import { createMemoryRateLimiter } from '../rate-limit/memory.ts';
import { createRedisRateLimiter } from '../rate-limit/redis.ts';

interface ConfiguredListenerOptions {
  readonly config: Config;
  readonly runtime: Runtime;
  readonly redis: RedisConnection | undefined;
  readonly responseWriter: ResponseWriter;
  readonly endpoints: readonly Endpoint[];
  readonly microCache: MicroCache;
}

/** The public listener as configured, which does not listen yet. It logs and counts its responses. */
export function openPublicListener(options: ConfiguredListenerOptions) {
  const { config, runtime, redis, responseWriter, endpoints, microCache } = options;
  const { baseUrls, contact, rateLimit: defaultLimit, accessLog: logsAll } = config;
  const { logger, metrics } = runtime;
  const limiter = openRateLimiter(runtime, redis);
  const identify = createClientIdentification({
    trustedProxies: config.trustProxy,
    ipv6PrefixBits: config.rateLimitIpv6Prefix,
    defaultLimit,
    limitOverrides: config.rateLimitOverrides,
    onUntrustedProxy(address) {
      logger.warn(
        { address },
        'X-Forwarded-For comes from a private address that TRUST_PROXY does not name: all its clients share one limit',
      );
    },
  });
  const openConnections = createClientConnections(runtime);
  const connections = createConnections(identify, openConnections, defaultLimit);
  const http = createPublicListener({
    clock: runtime.clock,
    endpoints,
    identify,
    baseUrls,
    connections,
    rateLimit: createRateLimitStep(limiter, contact),
    microCache,
    responseWriter,
    reporter: createResponseReporter(runtime, endpoints, logsAll),
  });
  addBoundGauges(metrics, 'pennant_connections', 'connections', openConnections.stats);
  return http;
}

/** The connections of clients. There may be as many as files and memory allow. */
function createClientConnections({ failureLog, metrics }: Pick<Runtime, 'failureLog' | 'metrics'>): OpenConnections {
  const closed = new Counter({
    name: 'pennant_connections_closed_total',
    help: 'Connections that were closed: their client or network had too many, or all places were taken.',
    labelNames: ['reason'],
    registers: [metrics],
  });
  for (const reason of Object.keys(CLOSED)) closed.inc({ reason }, 0);
  const { memoryBytes } = RESOURCE_LIMITS;
  const maxConnections = maxConnectionsFor({ openFiles: readOpenFilesLimit(), memoryBytes });
  return createOpenConnections({
    maxConnections,
    maxConnectionsPerNetwork: Math.ceil(maxConnections * NETWORK_SHARE),
    onClosed(reason) {
      closed.inc({ reason });
      failureLog.report({
        level: 'warn',
        key: `connections closed: ${reason}`,
        message: CLOSED[reason],
        fields: { maxConnections },
      });
    },
  });
}

/** The share of all connections that one network may have. */
const NETWORK_SHARE = 1 / 8;

const CLOSED: Readonly<Record<CloseReason, string>> = {
  client:
    'connections are closed because a client has too many: name a proxy in TRUST_PROXY, other clients in RATE_LIMIT_OVERRIDES',
  network: 'connections are closed because a network has an eighth of all: name a proxy in TRUST_PROXY',
  full: 'connections are closed because clients have as many as the memory and the open files (ulimit -n) of this process allow',
};

/** The limiter of this process, or with Redis the one that all instances share. */
function openRateLimiter(runtime: Runtime, redis: RedisConnection | undefined) {
  const { clock, metrics } = runtime;
  const local = createMemoryRateLimiter({ clock });
  addGauge(metrics, 'pennant_limiter_clients', 'Clients that the rate limiter remembers.', () => local.stats().entries);
  const evicted = 'Clients that the rate limiter forgot because it was full.';
  addCounter(metrics, 'pennant_limiter_evicted_clients_total', evicted, () => local.stats().evicted);
  if (redis === undefined) return local;
  const shared = createRedisRateLimiter({ connection: redis });
  const limiter = createFallbackRateLimiter({ shared, local });
  const alone = 'Requests that this instance has admitted or refused without the shared Redis.';
  addCounter(metrics, 'pennant_limiter_decided_alone_total', alone, () => limiter.stats().decidedAlone);
  return limiter;
}
