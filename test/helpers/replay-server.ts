import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { parseArgs } from 'node:util';
import { respondWithHtml, respondWithJson, respondWithStatus, startFakeUpstream } from './fake-upstream.ts';
import {
  channelIdOfToken,
  comparablePage,
  OWN_RESPONSES,
  panelChannelId,
  type ReplayResponse,
  readResponses,
} from './replay-responses.ts';
import { drawTestCard } from './test-card.ts';

type ReplayRoute = 'browse' | 'about' | 'about-page' | 'resolve' | 'search' | 'feed' | 'version' | 'data-api' | 'image';

interface ReplayCall {
  readonly route: ReplayRoute;
  readonly method: string;
  /** With its query. */
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  /** The body of a POST, otherwise `undefined`. */
  readonly body: Record<string, unknown> | undefined;
}

export interface ReplayOptions {
  /** Default: the project's own responses. */
  readonly responses?: readonly ReplayResponse[];
  /** Responds at `/youtube/v3/…`; 404 without it. */
  readonly dataApi?: RequestListener;
  /** Responds at any other path. Default: a small 16:9 PNG. */
  readonly image?: RequestListener;
  /** Default: every version is accepted. A test may change it. */
  readonly clientVersions?: ReplayClientVersions;
  /** Whether it has the HTML pages of channels. Default: 404. */
  readonly hasAboutPages?: boolean;
  /** Each response waits for it. Called with the target of a request when it arrives. */
  readonly mayRespond?: (target: string) => Promise<unknown>;
  readonly port?: number;
}

/** How it treats versions of the web client. */
interface ReplayClientVersions {
  /** The versions that it accepts in headers. */
  readonly accepted: ReadonlySet<string>;
  /** Whether it accepts calls without these headers, whatever version is in their body. Default: it does. */
  readonly acceptsWithoutHeaders?: boolean;
  /** The version that its pages name. */
  readonly named: string;
}

export type ReplayServer = Awaited<ReturnType<typeof startReplayServer>>;

const CARD = drawTestCard({ width: 320, height: 180 }).png().toBuffer();

/** The part of YouTube that this service uses, on a real socket of this machine. */
export async function startReplayServer(options: ReplayOptions = {}) {
  const { responses = readResponses(OWN_RESPONSES), clientVersions } = options;
  const { image = respondWithStatus(200, { 'content-type': 'image/png' }, await CARD) } = options;
  const calls: ReplayCall[] = [];
  const misbehaviours: { readonly route: ReplayRoute | 'all'; readonly listener: RequestListener; left: number }[] = [];

  function listenerFor(call: ReplayCall): RequestListener {
    const { route, path, body, headers } = call;
    const misbehaviour = misbehaviours.find(
      (other) => other.left > 0 && (other.route === 'all' || other.route === route),
    );
    if (misbehaviour !== undefined) {
      misbehaviour.left -= 1;
      return misbehaviour.listener;
    }
    if (route === 'data-api' && options.dataApi !== undefined) return options.dataApi;
    if (route === 'image') return image;
    if (route === 'about-page') {
      return options.hasAboutPages ? respondWithAboutPage(responses, path.split('/')[2]) : respondWithHtml(404);
    }
    if (route === 'version') return json(serviceWorkerData(clientVersions?.named ?? '2.20260630.03.00'));
    const isRefused = body !== undefined && clientVersions !== undefined && !acceptsClient(clientVersions, headers);
    return isRefused ? INVALID_ARGUMENT : replayed(responses, call);
  }

  async function respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = request.method === 'POST' ? (JSON.parse(await text(request)) as ReplayCall['body']) : undefined;
    const { url: path = '/', method = '', headers } = request;
    const call = { route: routeOf(path, body), method, path, headers, body };
    calls.push(call);
    await options.mayRespond?.(path);
    return listenerFor(call)(request, response);
  }

  const { origin, close } = await startFakeUpstream((request, response) => {
    respond(request, response).catch((error: unknown) => response.destroy(error as Error));
  }, options.port);

  return {
    origin,
    calls: calls as readonly ReplayCall[],
    callsTo: (route: ReplayRoute) => calls.filter((call) => call.route === route),
    forgetCalls: () => void calls.splice(0),
    /** Responds differently at a route (for example with one of `FAULTS`), to this many calls or permanently. */
    misbehave(route: ReplayRoute | 'all', listener: RequestListener, times = Number.POSITIVE_INFINITY): void {
      misbehaviours.push({ route, listener, left: times });
    },
    behave: () => void misbehaviours.splice(0),
    close,
  };
}

/** The settings that make a service send all its calls to one origin. */
export function youtubeSettings(origin: string): Record<string, string> {
  return { SOURCES: 'youtube', YOUTUBE_ORIGIN: origin };
}

function acceptsClient(
  { accepted, acceptsWithoutHeaders = true }: ReplayClientVersions,
  { 'x-youtube-client-version': version }: ReplayCall['headers'],
): boolean {
  return version === undefined ? acceptsWithoutHeaders : accepted.has(String(version));
}

function routeOf(path: string, body: ReplayCall['body']): ReplayRoute {
  if (path.startsWith('/youtubei/v1/browse')) return body?.continuation === undefined ? 'browse' : 'about';
  if (path.startsWith('/youtubei/v1/navigation/resolve_url')) return 'resolve';
  if (path.startsWith('/youtubei/v1/search')) return 'search';
  if (path.startsWith('/feeds/videos.xml')) return 'feed';
  if (path.startsWith('/youtube/v3/')) return 'data-api';
  if (path === '/sw.js_data') return 'version';
  if (/^\/(?:channel\/|@)[^/]+\/about$/.test(path)) return 'about-page';
  return 'image';
}

const MATCHERS: Partial<Record<ReplayRoute, (response: ReplayResponse, call: ReplayCall) => boolean>> = {
  browse: ({ request }, { body }) => request.body?.browseId !== undefined && request.body.browseId === body?.browseId,
  about: ({ request, text: panel }, { body }) => {
    if (request.body?.continuation === undefined) return false;
    if (request.body.continuation === body?.continuation) return true;
    const channelId = channelIdOfToken(String(body?.continuation));
    return channelId !== undefined && panelChannelId(panel) === channelId;
  },
  resolve: ({ request }, { body }) =>
    typeof request.body?.url === 'string' && comparablePage(request.body.url) === comparablePage(String(body?.url)),
  search: ({ request }, { body }) => request.body?.query !== undefined && request.body.query === body?.query,
  feed: ({ request, text: xml }, { path }) => {
    const channelId = new URL(path, 'http://replay').searchParams.get('channel_id');
    return request.url.includes('/feeds/videos.xml') && channelId !== null && xml.includes(`/channel/${channelId}"`);
  },
};

const json = (text: string, status = 200) =>
  respondWithStatus(status, { 'content-type': 'application/json; charset=UTF-8' }, text);
const error = (code: number, status: string) => respondWithJson({ error: { code, status } }, code);

/** YouTube's responses for absent things, per route, and for a version that is too old (recorded in 2026-07). */
const NO_CHANNEL = {
  alerts: [{ alertRenderer: { type: 'ERROR', text: { simpleText: 'This channel does not exist.' } } }],
};
const NO_HITS = { primaryContents: { sectionListRenderer: { contents: [] } } };
const NOTHING: Partial<Record<ReplayRoute, RequestListener>> = {
  browse: respondWithJson(NO_CHANNEL),
  about: error(404, 'NOT_FOUND'),
  resolve: error(404, 'NOT_FOUND'),
  search: respondWithJson({ contents: { twoColumnSearchResultsRenderer: NO_HITS } }),
};
const INVALID_ARGUMENT = error(400, 'INVALID_ARGUMENT');

/** Prefers the response to exactly this request over those of the channel's other tabs. */
function replayed(responses: readonly ReplayResponse[], call: ReplayCall): RequestListener {
  const matching = responses.filter((response) => MATCHERS[call.route]?.(response, call));
  const found = matching.find(({ request }) => request.body?.params === call.body?.params) ?? matching[0];
  if (found === undefined) return NOTHING[call.route] ?? respondWithHtml(404);
  const { status, text } = found;
  if (call.route === 'feed') return respondWithStatus(status, { 'content-type': 'text/xml; charset=UTF-8' }, text);
  return json(masked(text, call.path), status);
}

/** Upstream sends only the top-level parts that the query's `$fields` names. */
function masked(response: string, path: string): string {
  const fields = new URL(path, 'http://replay').searchParams.get('$fields')?.split(',');
  if (fields === undefined) return response;
  const parts = Object.entries(JSON.parse(response) as object).filter(([part]) => fields.includes(part));
  return JSON.stringify(Object.fromEntries(parts));
}

/** A channel's HTML page: its data has the content of the page, and its About panel where the page opens it. */
function respondWithAboutPage(responses: readonly ReplayResponse[], channelId: string | undefined): RequestListener {
  const find = (isWanted: (response: ReplayResponse) => boolean) => JSON.parse(responses.find(isWanted)?.text ?? '{}');
  const page = find(({ request }) => request.body?.browseId === channelId);
  const panel = find(
    ({ request, text }) => request.body?.continuation !== undefined && panelChannelId(text) === channelId,
  );
  const engagementPanel = { engagementPanelSectionListRenderer: { content: panel.onResponseReceivedEndpoints } };
  const isKnown = Object.keys(page).length > 0;
  const data = isKnown
    ? { ...page, onResponseReceivedEndpoints: [{ showEngagementPanelEndpoint: { engagementPanel } }] }
    : NO_CHANNEL;
  const script = JSON.stringify(data).replaceAll('<', '\\u003c');
  const text = `<!DOCTYPE html><html><body><script nonce="x">var ytInitialData = ${script};</script></body></html>`;
  return respondWithStatus(isKnown ? 200 : 404, { 'content-type': 'text/html' }, text);
}

function serviceWorkerData(version: string): string {
  return `)]}'\n${JSON.stringify([['yt.sw.adr', null, [[['en', 'US', 'US', null, '192.0.2.1', version, 'X11']]]]])}`;
}

/** To run it manually: `node test/helpers/replay-server.ts [PORT] [DIRECTORY…]`, then `YOUTUBE_ORIGIN=http://127.0.0.1:PORT`. */
if (import.meta.main) {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    // `--rename country=land`: a layout that has moved.
    options: { rename: { type: 'string', multiple: true } },
  });
  const [port = '8090', ...directories] = positionals;
  const renamed = (text: string, rename: string) => {
    const [from, to] = rename.split('=');
    return text.replaceAll(`"${from}":`, `"${to}":`);
  };
  const responses = [OWN_RESPONSES, ...directories].flatMap(readResponses).map((response) => ({
    ...response,
    text: (values.rename ?? []).reduce(renamed, response.text),
  }));
  const { origin } = await startReplayServer({ responses, hasAboutPages: true, port: Number(port) });
  console.log(`Replaying ${responses.length} responses on ${origin}`);
}
