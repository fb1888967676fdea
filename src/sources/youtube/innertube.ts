import { TIME_LIMITS_MS } from '../../domain/time-limits.ts';
import type { HttpClient, HttpResponse } from '../../lib/http/client.ts';
import {
  type AnswerName,
  type AnswerReader,
  type ApiAnswer,
  isMarkup,
  readApiAnswer,
  type ValueOf,
} from './answers.ts';
import type { ClientVersions } from './client-version.ts';
import { PAGE_HEADERS } from './client-version-lookup.ts';

/** The origin in the content of requests, whatever origin they are sent to. */
export const YOUTUBE_WEB = 'https://www.youtube.com';

/** A complete channel page had at most 2.1 MB (2026-03). */
const MAX_BYTES = 4 * 1024 * 1024;

/** Leaves out a page's videos: about 20 KB instead of up to 1.2 MB (2026-07). */
const CHANNEL_FIELD_MASK = 'header,metadata,microformat,alerts,onResponseReceivedActions';
/** Search filter "type: channel". */
const CHANNELS_ONLY = 'EgIQAg%3D%3D';
/** The About tab that ordinary channels had until 2023-11. */
const ABOUT_TAB = 'EgVhYm91dA%3D%3D';

export interface InnertubeOptions {
  readonly http: HttpClient;
  readonly reader: AnswerReader;
  /** Replaces https://www.youtube.com in requests. */
  readonly origin: string;
  readonly clientVersions: ClientVersions;
}

/** The calls of YouTube's own web client, without a key, a session or an account. */
export type Innertube = ReturnType<typeof createInnertube>;

export function createInnertube({ http, reader, origin, clientVersions }: InnertubeOptions) {
  const headers = {
    'content-type': 'application/json',
    origin: YOUTUBE_WEB,
    referer: YOUTUBE_WEB,
    'x-youtube-client-name': '1',
    ...PAGE_HEADERS,
  };
  const limits = { timeoutMs: TIME_LIMITS_MS.upstreamCall, maxBytes: MAX_BYTES };

  /** `name` is the reader of the response. */
  async function call<Name extends AnswerName>(
    name: Name,
    endpoint: string,
    parameters: object,
    signal: AbortSignal,
    mask = '',
  ): Promise<ApiAnswer<ValueOf<Name>>> {
    const response = await requestWithVersion((clientVersion) =>
      http.request({
        method: 'POST',
        url: `${origin}/youtubei/v1/${endpoint}?${mask}prettyPrint=false`,
        headers: { ...headers, 'x-youtube-client-version': clientVersion },
        body: JSON.stringify({ context: requestContext(clientVersion), ...parameters }),
        signal,
        ...limits,
      }),
    );
    return readApiAnswer(reader, name, response, signal);
  }

  /** Upstream refuses outdated versions with HTTP 400. The call is then repeated once with another version. */
  async function requestWithVersion(send: (clientVersion: string) => Promise<HttpResponse>): Promise<HttpResponse> {
    const version = await clientVersions.current();
    const response = await send(version);
    report(version, response);
    if (response.status !== 400) return response;
    const other = await clientVersions.findOther(version);
    if (other === undefined) return response;
    const repeated = await send(other);
    report(other, repeated);
    return repeated;
  }

  function report(version: string, { status, body }: HttpResponse): void {
    if (status === 400) clientVersions.report(version, 'refused');
    // Blocks and failures are not API responses, whatever their status.
    else if ((status === 200 || status === 404) && !isMarkup(body)) clientVersions.report(version, 'accepted');
  }

  return {
    /** The page of a channel. */
    browseChannel(channelId: string, { useFieldMask, signal }: { useFieldMask: boolean; signal: AbortSignal }) {
      const mask = useFieldMask ? `$fields=${CHANNEL_FIELD_MASK}&` : '';
      return call('page', 'browse', { browseId: channelId }, signal, mask);
    },
    browseAboutTab: (channelId: string, signal: AbortSignal) =>
      call('page', 'browse', { browseId: channelId, params: ABOUT_TAB }, signal),
    /** Loads a channel's About panel. */
    browseContinuation: (token: string, signal: AbortSignal) =>
      call('panel', 'browse', { continuation: token }, signal),
    /** @param url a page of www.youtube.com */
    resolveUrl: (url: string, signal: AbortSignal) => call('endpoint', 'navigation/resolve_url', { url }, signal),
    search: (query: string, signal: AbortSignal) =>
      call('searchPage', 'search', { query, params: CHANNELS_ONLY }, signal),
    searchContinuation: (token: string, signal: AbortSignal) =>
      call('searchPage', 'search', { continuation: token }, signal),
    /** The channel's feed, unchecked. */
    getFeed: (channelId: string, signal: AbortSignal) =>
      http.request({
        method: 'GET',
        url: `${origin}/feeds/videos.xml?channel_id=${channelId}`,
        headers: PAGE_HEADERS,
        signal,
        ...limits,
      }),
  };
}

/** Counts, dates and country names can only be read in US English, so `hl` and `gl` are fixed. */
function requestContext(clientVersion: string) {
  return {
    client: {
      hl: 'en',
      gl: 'US',
      clientName: 'WEB',
      clientVersion,
      originalUrl: YOUTUBE_WEB,
      platform: 'DESKTOP',
      utcOffsetMinutes: 0,
    },
    request: { internalExperimentFlags: [], useSsl: true },
    user: { lockedSafetyMode: false },
  };
}
