import type { RequestListener } from 'node:http';
import { answerJson } from './fake-upstream.ts';

/** A channel as channels.list shows it: only what look-ups and searches go by is named here. */
export interface DataApiItem {
  readonly id: string;
  readonly snippet: { readonly title: string; readonly customUrl?: string; readonly description?: string };
  readonly [part: string]: unknown;
}

export interface DataApiOptions {
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
