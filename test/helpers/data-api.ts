import type { RequestListener } from 'node:http';
import { onTestFinished } from 'vitest';
import { createYoutubeDataApiSource, type YoutubeDataApiOptions } from '../../src/sources/youtube-data-api/client.ts';
import { createManualClock } from './clock.ts';
import { answerJson, createUpstreamClient, startFakeUpstream } from './fake-upstream.ts';

/** A channel in the form of channels.list, with the fields that lookups and searches use. */
interface DataApiItem {
  readonly id: string;
  readonly snippet: { readonly title: string; readonly customUrl?: string; readonly description?: string };
  readonly [part: string]: unknown;
}

interface DataApiOptions {
  readonly channels: readonly DataApiItem[];
  /** Legacy user name → channel ID. */
  readonly usernames?: Readonly<Record<string, string>>;
  readonly apiKey: string;
}

/** Answers `/youtube/v3/channels` and `/youtube/v3/search` as the official Data API v3 does. */
export function answerDataApi({ channels, usernames = {}, apiKey }: DataApiOptions): RequestListener {
  function findByName(query: URLSearchParams): DataApiItem[] {
    const handle = query.get('forHandle')?.replace(/^@/, '').toLowerCase();
    const username = query.get('forUsername')?.toLowerCase();
    const id = username === undefined ? query.get('id') : usernames[username];
    return channels.filter(
      (channel) => channel.id === id || (handle !== undefined && channel.snippet.customUrl === `@${handle}`),
    );
  }

  return (request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://data-api.test');
    if (request.headers['x-goog-api-key'] !== apiKey) return answerDataApiError(400, 'keyInvalid')(request, response);
    if (pathname === '/youtube/v3/channels') {
      const items = findByName(searchParams);
      const found = items.length === 0 ? {} : { items };
      return answerJson({ kind: 'youtube#channelListResponse', ...found })(request, response);
    }
    if (pathname === '/youtube/v3/search') {
      const words = (searchParams.get('q') ?? '').toLowerCase();
      const matching = channels.filter(({ snippet }) => snippet.title.toLowerCase().includes(words));
      const items = matching.slice(0, Number(searchParams.get('maxResults'))).map(toSearchItem);
      return answerJson({ kind: 'youtube#searchListResponse', items })(request, response);
    }
    answerDataApiError(404, 'notFound')(request, response);
  };
}

/** An error in the API's own form. */
export function answerDataApiError(code: number, reason: string, message = 'Bad Request'): RequestListener {
  return answerJson({ error: { code, message, errors: [{ message, domain: 'global', reason }] } }, code);
}

function toSearchItem({ id, snippet }: DataApiItem) {
  return { kind: 'youtube#searchResult', id: { kind: 'youtube#channel', channelId: id }, snippet };
}

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

/** The source over real sockets to one origin. */
export function createTestDataApiSource(origin: string, options: Partial<YoutubeDataApiOptions> = {}) {
  return createYoutubeDataApiSource({
    http: createUpstreamClient(origin),
    origin,
    apiKey: KEY,
    clock: createManualClock(),
    unitsPerDay: 10_000,
    searchesPerDay: 100,
    ...options,
  });
}

/** The source and the API that it asks, until the test ends. */
export async function startDataApiSource() {
  const upstream = await startFakeUpstream(dataApi);
  const source = createTestDataApiSource(upstream.origin);
  onTestFinished(async () => {
    await source.close();
    await upstream.close();
  });
  return { upstream, source };
}
