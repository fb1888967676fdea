import { AppError } from '../../domain/errors.ts';
import { type Breaker, UnexplainedRefusalError } from '../../lib/breaker.ts';
import { type HttpClient, type HttpResponse, readRetryAfterMs } from '../../lib/http/http-client.ts';
import { type JsonObject, parseJsonObject } from '../../lib/json.ts';
import { firstAt, isHtml, isMarkup } from '../json.ts';
import { UPSTREAM_CALL_MS } from '../source.ts';
import { findYoutubeUrl, parseChannelId, parseHandle } from '../youtube-urls.ts';
import { createClientVersion, PAGE_HEADERS, type WebClient } from './client-version.ts';
import { type FeedReading, readFeed } from './feed.ts';
import { readInitialData } from './initial-data.ts';
import { type PageReading, readAbout, readEndpoint, readPage } from './page.ts';
import { readSearchPage } from './search-page.ts';

/** The origin in the content of requests, whatever origin they are sent to. */
export const YOUTUBE_WEB = 'https://www.youtube.com';

/** A complete channel page had at most 2.1 MB (2026-03). */
const MAX_BYTES = 4 * 1024 * 1024;

/** Leaves out a page's videos: about 20 KB instead of up to 1.2 MB (2026-07). */
const CHANNEL_FIELD_MASK = 'header,metadata,microformat,alerts,onResponseReceivedActions';
/** For an HTML page. */
const MAX_REDIRECTS = 3;
/** Of the reason of a refusal. */
const MAX_REASON_CHARACTERS = 50;
/** Search filter "type: channel". */
const CHANNELS_ONLY = 'EgIQAg%3D%3D';
/** The About tab that ordinary channels had until 2023-11. */
const ABOUT_TAB = 'EgVhYm91dA%3D%3D';

interface InnertubeOptions {
  readonly http: HttpClient;
  readonly origin: string;
  readonly breakers: YoutubeBreakers;
}

/** The calls that YouTube limits separately (seen 2021 to 2026-07). Each breaker stops calls of its kind only. */
export interface YoutubeBreakers {
  /** Pages and About panels. */
  readonly records: Breaker;
  readonly names: Breaker;
  readonly searches: Breaker;
  /** HTML pages of channels. */
  readonly pages: Breaker;
  readonly feeds: Breaker;
}

/** A well-formed API response: its value, or the reason why there is none (`INVALID_ARGUMENT`, `NOT_FOUND`, …). */
type ApiResponse<Value> =
  | { readonly kind: 'value'; readonly value: Value }
  | { readonly kind: 'refusal'; readonly status: number; readonly reason: string };

interface CallOptions {
  readonly mask?: string;
  /** Default: that of records. */
  readonly breaker?: Breaker;
}

interface BrowseOptions {
  readonly isWhole: boolean;
  readonly signal: AbortSignal;
}

export type Innertube = ReturnType<typeof createInnertube>;

/**
 * The calls of YouTube's own web client, without a key, a session or an account.
 *
 * A call throws AppError `upstream_unavailable` if upstream refused the request (429, 403, a redirect, or HTML with any status:
 * consent, "sorry" and captcha pages) or failed (5xx), `upstream_invalid` for everything else that is not of its form, and
 * BreakerOpenError.
 */
export function createInnertube(options: InnertubeOptions) {
  const { http, origin, breakers } = options;
  const clientVersion = createClientVersion({ http, origin });
  const headers = {
    'content-type': 'application/json',
    origin: YOUTUBE_WEB,
    referer: YOUTUBE_WEB,
    ...PAGE_HEADERS,
  };
  const limits = { timeoutMs: UPSTREAM_CALL_MS, maxBytes: MAX_BYTES };

  const refused = ({ headers }: HttpResponse, what: string, breaker: Breaker) =>
    breaker.refuse(what, readRetryAfterMs(headers));

  /** @throws AppError `upstream_unavailable` if the response shows that upstream refuses this address or this key, or fails. */
  function throwIfUnavailable(response: HttpResponse, breaker: Breaker): void {
    const { status, headers, body } = response;
    const what = status >= 300 && status < 400 ? `redirect to ${headers.location ?? 'nowhere'}` : `status ${status}`;
    if (status === 403 && !isMarkup(body)) throw new UnexplainedRefusalError(REFUSED, what);
    if (status === 429 || status === 403 || (status >= 300 && status < 400)) throw refused(response, what, breaker);
    if (status >= 500) {
      throw new AppError('upstream_unavailable', 'The video site responded with an error.', { cause: new Error(what) });
    }
  }

  async function call<Value>(
    read: (body: JsonObject) => Value,
    endpoint: string,
    parameters: object,
    signal: AbortSignal,
    { mask = '', breaker = breakers.records }: CallOptions = {},
  ): Promise<ApiResponse<Value>> {
    const send = async (client: WebClient) => {
      breaker.check();
      return http.request({
        method: 'POST',
        url: `${origin}/youtubei/v1/${endpoint}?${mask}prettyPrint=false`,
        headers: { ...headers, ...client.headers },
        body: JSON.stringify({ context: requestContext(client.version), ...parameters }),
        signal,
        ...limits,
      });
    };
    const response = await clientVersion.send(send);
    throwIfUnavailable(response, breaker);
    const { status, body } = response;
    if (isMarkup(body)) throw refused(response, `HTML with status ${status}`, breaker);
    const object = parseJsonObject(body);
    if (object === undefined) throw invalid('The video site sent a response that is incomplete or not a JSON object.');
    if (status >= 200 && status < 300) return { kind: 'value', value: read(object) };
    const reason = firstAt(object, 'error.status');
    return {
      kind: 'refusal',
      status,
      reason: typeof reason === 'string' ? reason.slice(0, MAX_REASON_CHARACTERS) : '',
    };
  }

  async function getAboutPage(
    channelId: string,
    page: string,
    signal: AbortSignal,
    redirects = 0,
  ): Promise<PageReading> {
    const url = `${origin}/${page}/about`;
    const response = await http.request({ method: 'GET', url, headers: PAGE_HEADERS, signal, ...limits });
    const { location = '' } = response.headers;
    const target = findChannelPage(location);
    if (target !== undefined && redirects < MAX_REDIRECTS)
      return getAboutPage(channelId, target, signal, redirects + 1);
    if (findYoutubeUrl(location) === undefined) throwIfUnavailable(response, breakers.pages);
    // A page of status 404 may say that there is no such channel.
    const hasData = response.status === 200 || response.status === 404;
    const data = hasData ? readInitialData(response.body) : undefined;
    // Every page of the site has `ytcfg`; consent and captcha pages do not.
    const isOfOtherSite = data === undefined && isMarkup(response.body) && !response.body.includes('ytcfg');
    if (response.status === 200 && isOfOtherSite) {
      throw refused(response, 'HTML of another site with status 200', breakers.pages);
    }
    if (data !== undefined) return readPage(data, channelId);
    const problem = 'The video site sent a page without a channel.';
    if (response.status === 404) throw inconclusive(problem, 'status 404');
    throw invalid(problem, new Error(`status ${response.status}`));
  }

  async function getFeed(channelId: string, signal: AbortSignal): Promise<FeedReading | undefined> {
    const url = `${origin}/feeds/videos.xml?channel_id=${channelId}`;
    const response = await http.request({ method: 'GET', url, headers: PAGE_HEADERS, signal, ...limits });
    throwIfUnavailable(response, breakers.feeds);
    // Feeds of existing channels return 404 for days at a time (2024-01 to 2026-09), so a 404 means nothing.
    if (response.status !== 200) return undefined;
    if (isHtml(response.body)) throw refused(response, 'HTML with status 200', breakers.feeds);
    const feed = readFeed(response.body.toString('utf8'));
    if (feed === undefined) throw invalid('The video site sent a feed that cannot be read.');
    return feed;
  }

  return {
    clientVersion: clientVersion.state,
    browseChannel(channelId: string, { isWhole, signal }: BrowseOptions) {
      const mask = isWhole ? '' : `$fields=${CHANNEL_FIELD_MASK}&`;
      return call((page) => readPage(page, channelId), 'browse', { browseId: channelId }, signal, { mask });
    },
    browseAboutTab: (channelId: string, signal: AbortSignal) =>
      call(readAbout, 'browse', { browseId: channelId, params: ABOUT_TAB }, signal),
    browseAboutPanel: (token: string, signal: AbortSignal) =>
      call(readAbout, 'browse', { continuation: token }, signal),
    /** @param url a page of www.youtube.com */
    resolveUrl: (url: string, signal: AbortSignal) =>
      call(readEndpoint, 'navigation/resolve_url', { url }, signal, { breaker: breakers.names }),
    search: (query: string, signal: AbortSignal) =>
      call(readSearchPage, 'search', { query, params: CHANNELS_ONLY }, signal, { breaker: breakers.searches }),
    /** Loads the HTML page of a channel, which needs no client version (1.6 to 2.6 MB, 2026-09). */
    getAboutPage: (channelId: string, signal: AbortSignal) =>
      breakers.pages.run(channelId, () => getAboutPage(channelId, `channel/${channelId}`, signal), signal),
    /** @returns `undefined` if there is no feed */
    getFeed: (channelId: string, signal: AbortSignal) =>
      breakers.feeds.run(channelId, () => getFeed(channelId, signal), signal),
  };
}

const REFUSED = 'The video site refuses to respond to this service at the moment.';

/** The path of a redirect's channel page. */
function findChannelPage(location: string): string | undefined {
  const channelId = parseChannelId(location);
  const handle = parseHandle(location);
  if (channelId !== undefined) return `channel/${channelId}`;
  return handle === undefined ? undefined : `@${encodeURIComponent(handle.slice(1))}`;
}

/** Counts, dates and country names can only be read in US English, so `hl` and `gl` are fixed. */
function requestContext(version: string) {
  return {
    client: {
      hl: 'en',
      gl: 'US',
      clientName: 'WEB',
      clientVersion: version,
      originalUrl: YOUTUBE_WEB,
      platform: 'DESKTOP',
      utcOffsetMinutes: 0,
    },
    request: { internalExperimentFlags: [], useSsl: true },
    user: { lockedSafetyMode: false },
  };
}

export function isNotFound(response: ApiResponse<unknown>): boolean {
  return response.kind === 'refusal' && response.status === 404 && response.reason === 'NOT_FOUND';
}

/** @throws AppError `channel_not_found` if the refusal says so, `upstream_invalid` for every other refusal */
export function requireFound<Value>(response: ApiResponse<Value>, call: string, problem: string): Value {
  if (response.kind === 'value') return response.value;
  const { status, reason } = response;
  if (isNotFound(response)) throw channelNotFound(`${call}: NOT_FOUND`);
  if (status === 401) throw new AppError('upstream_unavailable', problem, { cause: new Error(reason) });
  throw status === 404 ? inconclusive(problem, reason) : invalid(problem, new Error(reason));
}

/** The response cannot be read. */
export function invalid(message: string, cause?: unknown): AppError {
  return new AppError('upstream_invalid', message, { cause });
}

/** The response can be read, but tells neither a channel nor that there is none. */
export function inconclusive(message: string, cause: string): AppError {
  return new AppError('upstream_invalid', message, { cause: new Error(cause), scope: 'answer' });
}

export function channelNotFound(cause: string): AppError {
  return new AppError('channel_not_found', 'There is no such channel.', { cause: new Error(cause) });
}
