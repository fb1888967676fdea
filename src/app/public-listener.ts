import type { Server } from 'node:http';
import type { Config } from '../config/settings.ts';
import { createClientIdentification } from '../http/request/client.ts';
import { createRefusedClients } from '../http/request/refused-clients.ts';
import { createHttpServer, type HttpServerOptions } from '../http/server.ts';
import { maxConnectionsFor, readOpenFilesLimit } from '../lib/open-files.ts';
import type { RedisConnection } from '../lib/redis/connection.ts';
import type { Runtime } from '../lib/runtime.ts';
import { createFallbackRateLimiter } from '../rate-limit/fallback.ts';
import { createMemoryRateLimiter } from '../rate-limit/memory.ts';
import { createRedisRateLimiter } from '../rate-limit/redis.ts';

interface PublicListenerOptions
  extends Pick<
    HttpServerOptions,
    'channels' | 'channelBatches' | 'searches' | 'banners' | 'examples' | 'version' | 'responseWriter'
  > {
  readonly config: Config;
  readonly runtime: Runtime;
  readonly redis: RedisConnection | undefined;
}

/** The public listener as configured, which does not listen yet. It logs and counts its responses. */
export function createPublicListener(options: PublicListenerOptions) {
  const { config, runtime, redis } = options;
  const { clock, epochs, logger, metrics, holders, failureLog } = runtime;
  const limiter = openRateLimiter(runtime, redis);
  const clients = createClientIdentification({
    trustedProxies: config.trustProxy,
    ipv6PrefixBits: config.rateLimitIpv6Prefix,
    defaultLimit: config.rateLimit,
    limitOverrides: config.rateLimitOverrides,
    onUntrustedProxy(address) {
      logger.warn(
        { address },
        'X-Forwarded-For comes from a private address that TRUST_PROXY does not name: all its clients share one limit',
      );
    },
  });
  const refusedClients = createRefusedClients({ clock });
  const http = createHttpServer({
    clock,
    epochs,
    logger,
    metrics,
    holders,
    failureLog,
    responseWriter: options.responseWriter,
    limiter,
    clients,
    refusedClients,
    channels: options.channels,
    channelBatches: options.channelBatches,
    searches: options.searches,
    banners: options.banners,
    examples: options.examples,
    version: options.version,
    baseUrls: config.baseUrls,
    urlForm: config.urlForm,
    hasImageVersions: config.imageVersions,
    isNegotiating: config.negotiate,
    contact: config.contact,
    siteUrl: config.siteUrl,
    defaultLimit: config.rateLimit,
    logsAll: config.accessLog,
    showsAddresses: config.logAddresses === 'full',
  });
  limitConnections(http.server, runtime);
  holders.add('refused networks', () => refusedClients.stats());
  metrics.addGauge({
    name: 'pennant_refused_networks',
    help: 'Networks of clients that the rate limit refused in the last minutes.',
    read: () => refusedClients.stats().entries,
  });
  return { http, limiter, refusedClients };
}

/** Without a limit, idle connections would use up the files that the service needs itself. */
function limitConnections(server: Server, { failureLog }: Pick<Runtime, 'failureLog'>): void {
  const maxConnections = maxConnectionsFor(readOpenFilesLimit());
  if (maxConnections === Number.POSITIVE_INFINITY) return;
  server.maxConnections = maxConnections;
  server.on('drop', () => {
    failureLog.report({
      level: 'warn',
      key: 'connections refused',
      message: 'connections are refused: clients have as many open as the limit of open files allows (ulimit -n)',
      fields: { maxConnections },
    });
  });
}

/** The limiter of this process, or with Redis of all instances. */
function openRateLimiter(runtime: Runtime, redis: RedisConnection | undefined) {
  const { clock, metrics, holders } = runtime;
  const local = createMemoryRateLimiter({ clock });
  holders.add('rate limit', () => local.stats());
  metrics.addGauge({
    name: 'pennant_limiter_clients',
    help: 'Clients that the rate limiter remembers.',
    read: () => local.stats().entries,
  });
  metrics.addCounter({
    name: 'pennant_limiter_evicted_clients_total',
    help: 'Clients that the rate limiter forgot because it was full.',
    read: () => local.stats().evicted,
  });
  if (redis === undefined) return local;
  const onRefused = () => metrics.refusedValues.inc({ kind: 'limit' });
  const shared = createRedisRateLimiter({ connection: redis, onRefused });
  const limiter = createFallbackRateLimiter({ shared, local });
  holders.add('rate limit decisions by Redis', shared.stats);
  metrics.addCounter({
    name: 'pennant_limiter_decided_alone_total',
    help: 'Requests that this instance has admitted or refused without the shared Redis.',
    read: () => limiter.stats().decidedAlone,
  });
  return { hit: limiter.hit, stats: local.stats };
}
