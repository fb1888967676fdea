import { AppError } from '../../domain/errors.ts';
import { comparable } from '../../domain/identifier.ts';
import type { Gate } from '../../lib/http/gate.ts';
import type { JsonObject } from '../../lib/json.ts';
import { textWithin } from '../foreign-texts.ts';
import type { SourceGates } from '../gates.ts';
import { firstAt } from '../json.ts';
import { channelNotFound, UPSTREAM_CALL_MS } from '../source.ts';
import { createVersionedSend, PAGE_HEADERS } from './client-version.ts';
import { judgeApi, judgeFeed, judgePage } from './judge.ts';
import { type PageReading, readAbout, readEndpoint, readPage } from './page.ts';
import { ofChannel, type Reading } from './readings.ts';
import { readSearchPage } from './search-page.ts';

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

/** A well-formed API response: its value, or the reason why there is none (`INVALID_ARGUMENT`, `NOT_FOUND`, …). */
type ApiResult<Value> =
  | { readonly kind: 'value'; readonly value: Value }
  | { readonly kind: 'refusal'; readonly status: number; readonly reason: string };

interface ApiCall {
  /** It names what is asked for, because a failure may concern only that. */
  readonly key: string;
  /** The path with its own part of the query. */
  readonly endpoint: string;
  readonly parameters: object;
  /** True for a call beside the page of a record. There is a record without it. */
  readonly isBeside?: boolean;
}

export type Innertube = ReturnType<typeof createInnertube>;

/**
 * The calls of YouTube's own web client, without a key, a session or an account.
 *
 * A call throws the errors of its gate, and AppError `upstream_invalid` for a page without a channel.
 */
export function createInnertube(origin: string, gateOf: SourceGates) {
  /** The calls that YouTube limits separately (seen 2021 to 2026-07). */
  const gates = {
    /** Pages and About panels. */
    records: gateOf('youtube'),
    names: gateOf('youtube names'),
    searches: gateOf('youtube searches'),
    /** HTML pages of channels. */
    pages: gateOf('youtube pages'),
    feeds: gateOf('youtube feeds'),
  };
  const send = createVersionedSend(gates.records, origin);
  const headers = {
    'content-type': 'application/json',
    origin: YOUTUBE_WEB,
    referer: YOUTUBE_WEB,
    ...PAGE_HEADERS,
  };
  const limits = { timeoutMs: UPSTREAM_CALL_MS, maxBytes: MAX_BYTES };

  const get = (path: string, signal: AbortSignal) =>
    ({ method: 'GET', url: `${origin}/${path}`, headers: PAGE_HEADERS, signal, ...limits }) as const;

  async function call<Value>(
    gate: Gate,
    { key, endpoint, parameters, isBeside = false }: ApiCall,
    read: (body: JsonObject) => Value,
    signal: AbortSignal,
  ): Promise<ApiResult<Value>> {
    const { status, body } = await send((client) => {
      const url = `${origin}/youtubei/v1/${endpoint}prettyPrint=false`;
      const content = JSON.stringify({ context: requestContext(client.version), ...parameters });
      const sent = { headers: { ...headers, ...client.headers }, body: content, signal, ...limits };
      return gate.request({ method: 'POST', url, ...sent }, key, judgeApi, { isBeside });
    });
    if (status >= 200 && status < 300) return { kind: 'value', value: read(body) };
    return { kind: 'refusal', status, reason: textWithin(firstAt(body, 'error.status'), 'name') ?? '' };
  }

  return {
    browseChannel(key: string, part: 'whole' | 'masked', signal: AbortSignal) {
      const endpoint = part === 'whole' ? 'browse?' : `browse?$fields=${CHANNEL_FIELD_MASK}&`;
      const request = { key, endpoint, parameters: { browseId: key } };
      return call(gates.records, request, (body) => readPage(body, key), signal);
    },
    /**
     * The About data of a channel; empty if YouTube does not understand the request.
     *
     * @param token of its panel; `undefined`: its tab
     */
    async browseAbout(key: string, token: string | undefined, signal: AbortSignal): Promise<readonly Reading[]> {
      const parameters = token === undefined ? { browseId: key, params: ABOUT_TAB } : { continuation: token };
      const request = { key, endpoint: 'browse?', parameters, isBeside: true };
      const response = await call(gates.records, request, readAbout, signal);
      const about = response.kind === 'value' ? response.value : [];
      if (ofChannel(key, about).length < about.length) throw invalid('YouTube sent the About data of another channel.');
      return about;
    },
    /** @param url a page of www.youtube.com */
    resolveUrl(url: string, signal: AbortSignal) {
      const key = url.toLowerCase();
      return call(gates.names, { key, endpoint: 'navigation/resolve_url?', parameters: { url } }, readEndpoint, signal);
    },
    search(query: string, signal: AbortSignal) {
      const parameters = { query, params: CHANNELS_ONLY };
      return call(gates.searches, { key: comparable(query), endpoint: 'search?', parameters }, readSearchPage, signal);
    },
    /** Loads the HTML page of a channel, which needs no client version (1.6 to 2.6 MB, 2026-09). */
    async getAboutPage(channelId: string, signal: AbortSignal): Promise<PageReading> {
      // The page of an ID may redirect to the page of its handle.
      const mayFollow = (url: URL) => url.origin === origin;
      const request = { ...get(`channel/${channelId}/about`, signal), mayFollow };
      const { status, data } = await gates.pages.request(request, channelId, judgePage);
      if (data !== undefined) return readPage(data, channelId);
      const problem = 'YouTube sent a page without a channel.';
      throw status === 404 ? inconclusive(problem, 'status 404') : invalid(problem, new Error(`status ${status}`));
    },
    /** @returns `undefined` if there is no feed */
    getFeed: (channelId: string, signal: AbortSignal) =>
      gates.feeds.request(get(`feeds/videos.xml?channel_id=${channelId}`, signal), channelId, judgeFeed),
  };
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

export function isNotFound(response: ApiResult<unknown>): boolean {
  return response.kind === 'refusal' && response.status === 404 && response.reason === 'NOT_FOUND';
}

/** @throws AppError `channel_not_found` if the refusal says so, `upstream_invalid` for every other refusal */
export function requireFound<Value>(response: ApiResult<Value>, call: string, problem: string): Value {
  if (response.kind === 'value') return response.value;
  const { status, reason } = response;
  if (isNotFound(response)) throw channelNotFound(`${call}: NOT_FOUND`);
  if (status === 401) throw new AppError('upstream_unavailable', problem, { cause: new Error(reason), scope: 'key' });
  throw status === 404 ? inconclusive(problem, reason) : invalid(problem, new Error(reason));
}

/** The response cannot be read. */
export function invalid(message: string, cause?: unknown): AppError {
  return new AppError('upstream_invalid', message, { cause });
}

/** The response can be read, but tells neither a channel nor that there is none. */
export function inconclusive(message: string, cause: string): AppError {
  return new AppError('upstream_invalid', message, { cause: new Error(cause), scope: 'inconclusive' });
}
