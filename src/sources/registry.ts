import type { Config } from '../config/settings.ts';
import { type Clock, systemClock } from '../lib/clock.ts';
import type { HttpClient } from '../lib/http/http-client.ts';
import { createUnlimitedGates, type SourceGates } from './gates.ts';
import type { ChannelSource } from './source.ts';
import type { FieldObserver } from './youtube/record.ts';
import { createYoutubeSource } from './youtube/youtube.ts';
import { createYoutubeDataApiSource } from './youtube-data-api/youtube-data-api.ts';

interface SourceDeps {
  readonly clock: Clock;
  readonly gatesOf: (source: string) => SourceGates;
  /** Called for every field of every record that is read from responses of YouTube. */
  readonly onField: FieldObserver;
}

type SourceName = Exclude<Config['sources'][number], 'catalog'>;

/** The sources that `SOURCES` names, in its order. The catalog is none of them: it is read first. */
export function createSources(config: Config, deps: SourceDeps): ChannelSource[] {
  return config.sources.flatMap((name) => (name === 'catalog' ? [] : [SOURCE_FACTORIES[name](config, deps)]));
}

/** YouTube for a process that loads one channel: without a budget of calls, and with breakers that no earlier call has opened. */
export function openYoutube(config: Config, http: HttpClient, onField: FieldObserver): ChannelSource {
  const gatesOf = () => createUnlimitedGates(http, systemClock);
  return SOURCE_FACTORIES.youtube(config, { clock: systemClock, gatesOf, onField });
}

/** A relay (`YOUTUBE_ORIGIN`) replaces the origins. */
const SOURCE_FACTORIES: Record<SourceName, (config: Config, deps: SourceDeps) => ChannelSource> = {
  youtube: ({ youtubeOrigin, sources }, { clock, gatesOf, onField }) =>
    createYoutubeSource({
      origin: youtubeOrigin ?? 'https://www.youtube.com',
      gateOf: gatesOf('youtube'),
      clock,
      searchesForLostHandles: !sources.includes('youtube-data-api'),
      onField,
    }),

  'youtube-data-api': ({ youtubeOrigin, youtubeApiKey }, { clock, gatesOf }) =>
    createYoutubeDataApiSource({
      origin: youtubeOrigin ?? 'https://www.googleapis.com',
      gateOf: gatesOf('youtube-data-api'),
      // parseConfig refuses this source without a key.
      apiKey: youtubeApiKey ?? '',
      clock,
    }),
};
