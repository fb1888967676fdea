import { type Config, SETTINGS } from '../config/settings.ts';
import type { Breaker } from '../lib/breaker.ts';
import type { Clock } from '../lib/clock.ts';
import { createHttpClient, type HttpClient } from '../lib/http/http-client.ts';
import type { BreakerName } from './breakers.ts';
import type { ChannelSource, KeptText } from './source.ts';
import { createClientVersion } from './youtube/client-version.ts';
import { createYoutubeSource } from './youtube/youtube.ts';
import { createYoutubeDataApiSource } from './youtube-data-api/youtube-data-api.ts';

interface SourceDeps {
  readonly clock: Clock;
  readonly userAgent: string;
  /** Returns the client to use instead of an upstream's own, such as one with a budget of calls. */
  readonly wrapHttp: (upstream: string, http: HttpClient) => HttpClient;
  readonly breakerOf: (name: BreakerName) => Breaker;
  /** Stores today's numbers of calls to the YouTube Data API. */
  readonly keptQuota: KeptText;
  /** Called with the path that carried a field in an upstream response; `undefined`: none did. */
  readonly onField: (source: string, field: string, path: string | undefined) => void;
  /** For a process that loads one channel only. */
  readonly single?: {
    /** Requests whole pages of YouTube instead of the needed parts. */
    readonly wantsWholePages: boolean;
  };
}

type SourceName = Exclude<Config['sources'][number], 'catalog'>;

/** The sources that `SOURCES` names, in its order. The catalog is none of them: it is read first. */
export function createSources(config: Config, deps: SourceDeps): ChannelSource[] {
  return config.sources.flatMap((name) => (name === 'catalog' ? [] : [SOURCE_FACTORIES[name](config, deps)]));
}

export const SOURCE_FACTORIES: Record<SourceName, (config: Config, deps: SourceDeps) => ChannelSource> = {
  youtube(config, deps) {
    const http = createUpstreamClient('youtube', config, deps);
    return createYoutubeSource({
      http,
      clock: deps.clock,
      breakers: {
        records: deps.breakerOf('youtube'),
        names: deps.breakerOf('youtube names'),
        searches: deps.breakerOf('youtube searches'),
        pages: deps.breakerOf('youtube pages'),
        feeds: deps.breakerOf('youtube feeds'),
      },
      origin: config.youtubeOrigin,
      clientVersion: createClientVersion({ http, origin: config.youtubeOrigin, clock: deps.clock }),
      searchesForLostHandles: !config.sources.includes('youtube-data-api'),
      wantsWholePages: deps.single?.wantsWholePages,
      onField: (field, path) => deps.onField('youtube', field, path),
    });
  },

  'youtube-data-api': (config, deps) =>
    createYoutubeDataApiSource({
      http: createUpstreamClient('youtube-data-api', config, deps),
      origin: config.youtubeApiOrigin,
      // parseConfig refuses this source without a key.
      apiKey: config.youtubeApiKey ?? '',
      clock: deps.clock,
      unitsPerDay: config.youtubeApiDailyQuota,
      kept: deps.keptQuota,
      breakers: { units: deps.breakerOf('youtube-data-api'), searches: deps.breakerOf('youtube-data-api searches') },
    }),
};

/** The setting that names each upstream's origin. */
const ORIGINS = { youtube: 'youtubeOrigin', 'youtube-data-api': 'youtubeApiOrigin' } as const;

function createUpstreamClient(name: keyof typeof ORIGINS, config: Config, { clock, userAgent, wrapHttp }: SourceDeps) {
  const origin = config[ORIGINS[name]];
  const isPublic = origin === SETTINGS[ORIGINS[name]].fallback;
  const http = createHttpClient({
    isAllowed: (candidate) => isPublic && candidate === origin,
    // Another origin belongs to the operator and may have a private address.
    privateOrigins: isPublic ? [] : [origin],
    followRedirects: false,
    userAgent,
    clock,
  });
  return wrapHttp(name, http);
}
