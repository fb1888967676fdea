import { createHttpClient } from '../../src/lib/http/client.ts';
import { createYoutubeDataApiSource } from '../../src/sources/youtube-data-api/client.ts';
import { createManualClock } from './clock.ts';
import { answerDataApi, type DataApiItem } from './data-api.ts';
import { startFakeUpstream } from './fake-upstream.ts';

export const KEY = 'a-key-that-nobody-may-see';
export const ID = 'UCPennantSample00000001A';
export const OTHER_ID = 'UCPennantSample00000002A';

export const CHANNELS: DataApiItem[] = [
  {
    id: ID,
    snippet: {
      title: 'Sample & Friends',
      description: 'About\nsamples',
      customUrl: '@sample',
      publishedAt: '2012-03-04T05:06:07.891Z',
      country: 'NZ',
      thumbnails: {
        default: { url: 'https://yt3.ggpht.com/ytc/avatar=s88-c-k-c0x00ffffff-no-rj' },
        high: { url: 'https://yt3.ggpht.com/ytc/avatar=s800-c-k-c0x00ffffff-no-rj' },
      },
    } as DataApiItem['snippet'],
    statistics: { viewCount: '123456789012', subscriberCount: '4500', hiddenSubscriberCount: false, videoCount: '0' },
    brandingSettings: { image: { bannerExternalUrl: 'https://yt3.googleusercontent.com/banner' } },
  },
  {
    id: OTHER_ID,
    snippet: { title: 'Sample two', description: '' },
    statistics: { viewCount: '5', subscriberCount: '0', hiddenSubscriberCount: true, videoCount: '1' },
    brandingSettings: {},
  },
  { id: 'UCPennantSample00000003A', snippet: { title: 'Sample three' } },
];

export const dataApi = answerDataApi({ channels: CHANNELS, usernames: { olduser: ID }, apiKey: KEY });

/** The source and the API that it asks. */
export async function startDataApiSource(apiKey = KEY) {
  const upstream = await startFakeUpstream(dataApi);
  const http = createHttpClient({
    allowedOrigins: [upstream.origin],
    followRedirects: false,
    userAgent: 'pennant-test',
  });
  const clock = createManualClock();
  const quotas = { unitsPerDay: 10_000, searchesPerDay: 100 };
  const source = createYoutubeDataApiSource({ http, origin: upstream.origin, apiKey, clock, ...quotas });
  return { upstream, source };
}
