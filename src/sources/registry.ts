import type { Config } from '../config/settings.ts';
import type { Channel } from '../domain/channel.ts';
import { type Clock, systemClock } from '../lib/clock.ts';
import { createHttpClient, type HttpClient } from '../lib/http/http-client.ts';
import { createUnlimitedGates, type SourceGates } from './gates.ts';
import type { ChannelSource, FieldResult } from './source.ts';
import { createYoutubeSource } from './youtube/youtube.ts';
import { createYoutubeDataApiSource } from './youtube-data-api/youtube-data-api.ts';

interface SourceDeps {
  readonly clock: Clock;
  readonly userAgent: string;
  /** The gates of a source, which send calls with this client. */
  readonly gatesOf: (source: string, http: HttpClient) => SourceGates;
  /** Called for every field of every record that is read from responses of YouTube. */
  readonly onField: (field: keyof Channel, result: FieldResult) => void;
}

type SourceName = Exclude<Config['sources'][number], 'catalog'>;

/** The sources that `SOURCES` names, in its order. The catalog is none of them: it is read first. */
export function createSources(config: Config, deps: SourceDeps): ChannelSource[] {
  return config.sources.flatMap((name) => (name === 'catalog' ? [] : [SOURCE_FACTORIES[name](config, deps)]));
}

/** YouTube for a process that loads one channel: without a budget of calls, and with breakers that no earlier call has opened. */
export function openYoutube(
  config: Config,
  deps: Pick<SourceDeps, 'userAgent' | 'onField'> & { readonly wrapHttp?: (http: HttpClient) => HttpClient },
): ChannelSource {
  const { wrapHttp = (http) => http, ...others } = deps;
  return SOURCE_FACTORIES.youtube(config, {
    clock: systemClock,
    gatesOf: (_source, http) => createUnlimitedGates(wrapHttp(http), systemClock),
    ...others,
  });
}

const SOURCE_FACTORIES: Record<SourceName, (config: Config, deps: SourceDeps) => ChannelSource> = {
  youtube: (config, deps) =>
    createYoutubeSource({
      ...createUpstream('youtube', config, deps),
      clock: deps.clock,
      searchesForLostHandles: !config.sources.includes('youtube-data-api'),
      onField: deps.onField,
    }),

  'youtube-data-api': (config, deps) =>
    createYoutubeDataApiSource({
      ...createUpstream('youtube-data-api', config, deps),
      // parseConfig refuses this source without a key.
      apiKey: config.youtubeApiKey ?? '',
      clock: deps.clock,
    }),
};

const ORIGINS = { youtube: 'https://www.youtube.com', 'youtube-data-api': 'https://www.googleapis.com' } as const;

/** The origin of a source or of the relay before it, and the gates and the client through which calls go there. */
function createUpstream(name: keyof typeof ORIGINS, config: Config, { clock, userAgent, gatesOf }: SourceDeps) {
  const origin = config.youtubeOrigin ?? ORIGINS[name];
  const isAllowed = (url: URL) => url.origin === origin;
  const { proxyEnv } = config;
  const http = createHttpClient({ isAllowed, followRedirects: false, userAgent, proxyEnv, clock });
  return { origin, http, gateOf: gatesOf(name, http) };
}
