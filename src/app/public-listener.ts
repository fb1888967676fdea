import type { Config } from '../config/settings.ts';
import { isPrivateAddress } from '../domain/ip-ranges.ts';
import { createClientIdentification } from '../http/request/client.ts';
import { createRefusedClients } from '../http/request/refused-clients.ts';
import { createHttpServer, type HttpServerOptions } from '../http/server.ts';
import type { Runtime } from '../lib/runtime.ts';
import type { RateLimiter } from '../rate-limit/limiter.ts';

export interface PublicListenerOptions
  extends Pick<HttpServerOptions, 'channels' | 'channelBatches' | 'searches' | 'banners' | 'version' | 'beforeLookUp'> {
  readonly config: Config;
  readonly runtime: Runtime;
  readonly limiter: RateLimiter;
}

/** The public listener as configured, which does not listen yet. It logs and counts its responses. */
export function createPublicListener({ config, runtime, limiter, ...services }: PublicListenerOptions) {
  const { clock, logger, metrics, holders, failureLog } = runtime;
  let isForwardReported = false;
  const clients = createClientIdentification({
    trustedProxies: config.trustProxy,
    ipv6PrefixBits: config.rateLimitIpv6Prefix,
    defaultLimit: config.rateLimit,
    limitOverrides: config.rateLimitOverrides,
    onUntrustedForward(address) {
      if (isForwardReported || !isPrivateAddress(address)) return;
      isForwardReported = true;
      logger.warn(
        { address },
        'X-Forwarded-For comes from a private address that TRUST_PROXY does not name: all its clients share one limit',
      );
    },
  });
  const refusedClients = createRefusedClients({ clock });
  const http = createHttpServer({
    ...services,
    clock,
    holders,
    limiter,
    clients,
    baseUrls: config.baseUrls,
    urlForm: config.urlForm,
    hasPictureVersions: config.pictureVersions,
    isNegotiating: config.negotiate,
    contact: config.contact,
    siteUrl: config.siteUrl,
    defaultLimit: config.rateLimit,
    metrics,
    refusedClients,
    logger,
    failureLog,
    logsAll: config.accessLog,
    showsAddresses: config.logAddresses === 'full',
  });
  holders.add('refused networks', () => refusedClients.stats());
  metrics.addGauge({
    name: 'pennant_refused_networks',
    help: 'Networks of clients that the rate limit refused in the last minutes.',
    read: () => refusedClients.stats().entries,
  });
  return { http, refusedClients };
}
