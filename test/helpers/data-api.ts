import { readFileSync } from 'node:fs';
import type { RequestListener } from 'node:http';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { createUnlimitedGates } from '../../src/sources/gates.ts';
import { createYoutubeDataApiSource } from '../../src/sources/youtube-data-api/youtube-data-api.ts';
import { createManualClock } from './clock.ts';
import { createTestClient, respondWithJson, startFakeUpstream } from './fake-upstream.ts';

/** A channel in the form of channels.list, with the fields that lookups and searches use. */
interface DataApiItem {
  readonly id: string;
  readonly snippet: { readonly title: string; readonly customUrl?: string; readonly description?: string };
  readonly [part: string]: unknown;
}

/** The only key that the API accepts. */
export const KEY = 'a-key-that-nobody-may-see';

/** Responds as the official Data API v3 does about these channels. @param usernames legacy user name → channel ID */
export function respondAsDataApi(
  channels: readonly DataApiItem[],
  usernames: Readonly<Record<string, string>> = {},
): RequestListener {
  function findByName(query: URLSearchParams): DataApiItem[] {
    const username = query.get('forUsername')?.toLowerCase();
    const wantedId = username === undefined ? query.get('id') : usernames[username];
    const handle = query.get('forHandle')?.toLowerCase().replace(/^@?/, '@');
    return channels.filter(({ id, snippet }) => id === wantedId || (handle && snippet.customUrl === handle));
  }

  return (request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://data-api.test');
    if (request.headers['x-goog-api-key'] !== KEY) return respondWithDataApiError(400, 'keyInvalid')(request, response);
    if (pathname === '/youtube/v3/channels') {
      const items = findByName(searchParams).map((item) => ({ statistics: {}, brandingSettings: {}, ...item }));
      const found = items.length === 0 ? {} : { items };
      return respondWithJson({ kind: 'youtube#channelListResponse', ...found })(request, response);
    }
    if (pathname === '/youtube/v3/search') {
      const words = (searchParams.get('q') ?? '').toLowerCase();
      const matching = channels.filter(({ snippet }) => snippet.title.toLowerCase().includes(words));
      const items = matching.slice(0, Number(searchParams.get('maxResults'))).map(({ id, snippet }) => {
        return { kind: 'youtube#searchResult', id: { kind: 'youtube#channel', channelId: id }, snippet };
      });
      return respondWithJson({ kind: 'youtube#searchListResponse', items })(request, response);
    }
    respondWithDataApiError(404, 'notFound')(request, response);
  };
}

/** An error in the API's own form. */
export function respondWithDataApiError(code: number, reason: string, message = 'Bad Request'): RequestListener {
  return respondWithJson({ error: { code, message, errors: [{ message, domain: 'global', reason }] } }, code);
}

export const ID = 'UCPennantSample00000001A';
export const CHANNELS = JSON.parse(
  readFileSync(join(import.meta.dirname, '../fixtures/data-api-channels.json'), 'utf8'),
) as readonly DataApiItem[];

export const dataApi = respondAsDataApi(CHANNELS, { olduser: ID });

/** The source over real sockets to one origin. */
export function createTestDataApiSource(origin: string) {
  const clock = createManualClock();
  const http = createTestClient(clock);
  return createYoutubeDataApiSource({ origin, apiKey: KEY, clock, gateOf: createUnlimitedGates(http, clock) });
}

/** The source and the API that it asks, until the test ends. */
export async function startDataApiSource() {
  const upstream = await startFakeUpstream(dataApi);
  const source = createTestDataApiSource(upstream.origin);
  onTestFinished(upstream.close);
  return { upstream, source };
}
