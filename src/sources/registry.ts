import type { Config } from '../config/settings.ts';
import type { Channel } from '../domain/channel.ts';
import { type Breaker, createBreaker } from '../lib/breaker.ts';
import { type Clock, systemClock } from '../lib/clock.ts';
import { createHttpClient, type HttpClient } from '../lib/http/http-client.ts';
import type { BreakerName } from './breakers.ts';
import type { ChannelSource, FieldResult } from './source.ts';
import { createYoutubeSource } from './youtube/youtube.ts';
import { createYoutubeDataApiSource } from './youtube-data-api/youtube-data-api.ts';

interface SourceDeps {
  readonly clock: Clock;
  readonly userAgent: string;
  /** Returns the client to use instead of an upstream's own, such as one with a budget of calls. */
  readonly wrapHttp: (upstream: string, http: HttpClient) => HttpClient;
  readonly breakerOf: (name: BreakerName) => Breaker;
  /** Called for every field of every record that is read from upstream responses. */
  readonly onField: (source: string, field: keyof Channel, result: FieldResult) => void;
}

type SourceName = Exclude<Config['sources'][number], 'catalog'>;

/** The sources that `SOURCES` names, in its order. The catalog is none of them: it is read first. */
export function createSources(config: Config, deps: SourceDeps): ChannelSource[] {
  return config.sources.flatMap((name) => (name === 'catalog' ? [] : [SOURCE_FACTORIES[name](config, deps)]));
}

/** YouTube for a process that loads one channel: without a budget of calls, and with breakers that no earlier call has opened. */
export function openYoutube(
  config: Config,
  deps: Pick<SourceDeps, 'userAgent' | 'onField'> & Partial<Pick<SourceDeps, 'wrapHttp'>>,
): ChannelSource {
  return SOURCE_FACTORIES.youtube(config, {
    clock: systemClock,
    wrapHttp: (_upstream, http) => http,
    breakerOf: () => createBreaker({ clock: systemClock, label: 'YouTube' }),
    ...deps,
  });
}

const SOURCE_FACTORIES: Record<SourceName, (config: Config, deps: SourceDeps) => ChannelSource> = {
  youtube(config, deps) {
    const { http, origin } = createUpstream('youtube', config, deps);
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
      origin,
      searchesForLostHandles: !config.sources.includes('youtube-data-api'),
      onField: (field, result) => deps.onField('youtube', field, result),
    });
  },

  'youtube-data-api': (config, deps) =>
    createYoutubeDataApiSource({
      ...createUpstream('youtube-data-api', config, deps),
      // parseConfig refuses this source without a key.
      apiKey: config.youtubeApiKey ?? '',
      clock: deps.clock,
      breakers: { units: deps.breakerOf('youtube-data-api'), searches: deps.breakerOf('youtube-data-api searches') },
    }),
};

const ORIGINS = { youtube: 'https://www.youtube.com', 'youtube-data-api': 'https://www.googleapis.com' } as const;

/** The origin of a source or of the relay before it, and the only client that sends calls there. */
function createUpstream(name: keyof typeof ORIGINS, config: Config, { clock, userAgent, wrapHttp }: SourceDeps) {
  const origin = config.youtubeOrigin ?? ORIGINS[name];
  const isAllowed = (url: URL) => url.origin === origin;
  const http = createHttpClient({ isAllowed, followRedirects: false, userAgent, clock });
  return { origin, http: wrapHttp(name, http) };
}
