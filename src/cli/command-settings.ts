import { type Config, SETTINGS } from '../config/settings.ts';
import { isPrivateAddress } from '../domain/ip-ranges.ts';
import { keptKey } from '../store/keys.ts';
import { chooseStore } from '../store/registry.ts';
import { StoreUnreadableError } from '../store/store.ts';
import type { CacheContext } from './cache/command.ts';
import type { DoctorContext } from './doctor.ts';
import type { CheckSettings } from './serve/check.ts';

/* The part of the settings that each command needs. */

/** Warnings about valid settings that probably do not do what the operator wants. */
export function settingsWarnings({ trustProxy, baseUrls, rateLimitOverrides }: Config): string[] {
  const warnings: string[] = [];
  if (trustProxy.length > 0 && baseUrls.length === 0) {
    warnings.push('TRUST_PROXY is set without BASE_URL: URLs in answers follow each request’s Host');
  }
  const unlimited = rateLimitOverrides.flatMap(({ range: [address, prefixBits], limit }) =>
    limit === 'unlimited' && isPrivateAddress(address.toString()) ? [`${address}/${prefixBits}`] : [],
  );
  if (trustProxy.length === 0 && unlimited.length > 0) {
    warnings.push(
      `RATE_LIMIT_OVERRIDES has ${unlimited.join(', ')}=unlimited and TRUST_PROXY is not set: behind a proxy at such an address, no client has a limit`,
    );
  }
  return warnings;
}

export function checkSettings(config: Config): Omit<CheckSettings, 'envFile' | 'warnings'> {
  const { dataDir, sources, host, port, consoleHost, consolePort } = config;
  const listeners = [
    { setting: 'PORT', host, port },
    { setting: 'CONSOLE_PORT', host: consoleHost, port: consolePort },
  ];
  return {
    dataDir,
    hasCatalog: sources.includes('catalog'),
    // Port 0 is any free one, or none.
    listeners: listeners.filter((listener) => listener.port !== 0),
    store: chooseStore(config),
  };
}

export function cacheSettings(
  config: Config,
): Pick<CacheContext, 'dataDir' | 'redis' | 'storeIn' | 'imageCacheBytes' | 'consoleOrigin' | 'openStores'> {
  const { dataDir, redisUrl, imageCacheBytes, consoleHost, consolePort } = config;
  return {
    dataDir,
    redis: redisUrl,
    storeIn: (ofDataDir) => chooseStore({ ...config, dataDir: ofDataDir }),
    imageCacheBytes,
    consoleOrigin: consolePort === 0 ? undefined : originOf(consoleHost, consolePort),
    async openStores(ofDataDir) {
      const { openPurge } = await import('../app/invalidation.ts');
      return openPurge({ ...config, dataDir: ofDataDir });
    },
  };
}

/** The address at which this machine reaches a listener that is bound to this one. */
function originOf(host: string, port: number): string {
  const asked = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host;
  return `http://${asked.includes(':') ? `[${asked}]` : asked}:${port}`;
}

export function doctorSettings(config: Config): Pick<DoctorContext, 'youtube' | 'dataApi' | 'imageOrigin'> {
  return {
    youtube: {
      origin: config.youtubeOrigin,
      isPublic: config.youtubeOrigin === SETTINGS.youtubeOrigin.fallback,
      clientVersion: config.youtubeClientVersion,
      async readKeptVersions() {
        try {
          return await chooseStore(config).read(keptKey('youtube-client-version'));
        } catch (error) {
          if (error instanceof StoreUnreadableError) return undefined;
          throw error;
        }
      },
      useFieldMask: config.youtubeFieldMask,
      aboutToken: config.youtubeAboutToken,
    },
    dataApi: {
      origin: config.youtubeApiOrigin,
      isPublic: config.youtubeApiOrigin === SETTINGS.youtubeApiOrigin.fallback,
      apiKey: config.youtubeApiKey,
    },
    imageOrigin: config.youtubeImageOrigin,
  };
}
