import { AppError } from '../../domain/errors.ts';
import { type Clock, systemClock } from '../../lib/clock.ts';
import { createHttpClient, type HttpClient, type HttpRequest } from '../../lib/http/client.ts';
import { type FieldFinding, type LoadedChannel, SOLO_LEASE, type SourceWithDates } from '../../sources/source.ts';
import { createClientVersions } from '../../sources/youtube/client-version.ts';
import { lookUpClientVersion } from '../../sources/youtube/client-version-lookup.ts';
import { inspectChannel } from '../../sources/youtube/inspect.ts';
import { type JsonObject, parseJsonObject } from '../../sources/youtube/json.ts';
import { createYoutubeSource } from '../../sources/youtube/youtube.ts';
import { createYoutubeDataApiSource } from '../../sources/youtube-data-api/client.ts';
import { inspectChannelList } from '../../sources/youtube-data-api/parse.ts';

/** An address of an upstream; one that is not public is the operator's own. */
export interface UpstreamOrigin {
  readonly origin: string;
  readonly isPublic: boolean;
}

export interface UpstreamSettings {
  readonly youtube: UpstreamOrigin & {
    /** The operator's choice; `undefined`: the version is learned. */
    readonly clientVersion: string | undefined;
    /** What the service has stored of the versions that it has learned. */
    readonly readKeptVersions: () => Promise<string | undefined>;
    readonly useFieldMask: boolean;
    readonly aboutToken: 'computed' | 'page';
  };
  readonly dataApi: UpstreamOrigin & { readonly apiKey: string | undefined };
  /** Asked instead of the image hosts. */
  readonly imageOrigin: string | undefined;
  readonly userAgent: string;
}

export const SOURCE_NAMES = ['youtube', 'youtube-data-api'] as const;
export type SourceName = (typeof SOURCE_NAMES)[number];

/** What the answers themselves show, beside the record that was read from them. */
export interface Findings {
  readonly fields: readonly FieldFinding[];
  readonly remarks: readonly string[];
}

/** A source whose every call is noted down, past caches, budgets, breakers and second tries. */
export interface Upstream {
  readonly source: SourceWithDates;
  readonly origin: string;
  /** True where the exact creation time needs a call of its own. */
  readonly hasFeed: boolean;
  inspect(channelId: string, loaded: LoadedChannel | undefined): Findings;
  /** The version of the upstream's own client that the calls named, where they name one. */
  inspectClientVersion?(): Promise<FieldFinding>;
}

interface UpstreamDeps {
  readonly clock: Clock;
  readonly calls: RecordedCall[];
}

export function createUpstream(name: SourceName, settings: UpstreamSettings, deps: UpstreamDeps): Upstream {
  return name === 'youtube' ? createYoutube(settings, deps) : createDataApi(settings, deps);
}

function createYoutube({ youtube, userAgent }: UpstreamSettings, { clock, calls }: UpstreamDeps): Upstream {
  const http = recordCalls(createClient(youtube, userAgent), { clock, calls, nameOf: nameYoutubeCall });
  const { origin } = youtube;
  const clientVersions = createClientVersions({
    setting: youtube.clientVersion,
    http,
    origin,
    clock,
    // The doctor leaves everything as it is.
    kept: { read: youtube.readKeptVersions, write: async () => undefined },
    lease: SOLO_LEASE,
    onChange: () => undefined,
  });
  return {
    source: createYoutubeSource({ ...youtube, http, clock, clientVersions }),
    origin,
    hasFeed: true,
    async inspectClientVersion() {
      const { version, problem } = await lookUpClientVersion({
        http,
        origin,
        clock: systemClock,
        timeoutMs: VERSION_LOOKUP_MS,
      });
      const used = clientVersions.state();
      const notes = [
        VERSION_ORIGINS[used.origin],
        version === undefined ? undefined : `YouTube’s own is ${version}`,
        problem,
      ];
      return {
        field: 'client version',
        state: version === undefined ? 'unreadable' : 'fine',
        value: used.version,
        path: null,
        note: notes.filter((note) => note !== undefined).join('; '),
      };
    },
    inspect() {
      const page = lastObject(calls, 'page');
      if (page === undefined) return { fields: [], remarks: [] };
      const tab = lastObject(calls, 'about tab');
      return inspectChannel({
        page: tab === undefined ? page : { ...page, contents: tab.contents },
        about: lastObject(calls, 'about') ?? {},
      });
    },
  };
}

function createDataApi({ dataApi, userAgent }: UpstreamSettings, { clock, calls }: UpstreamDeps): Upstream {
  const http = recordCalls(createClient(dataApi, userAgent), { clock, calls, nameOf: () => 'channels' });
  return {
    source: createYoutubeDataApiSource({
      http,
      origin: dataApi.origin,
      apiKey: dataApi.apiKey ?? '',
      clock,
      unitsPerDay: Number.MAX_SAFE_INTEGER,
      searchesPerDay: Number.MAX_SAFE_INTEGER,
    }),
    origin: dataApi.origin,
    hasFeed: false,
    inspect(_channelId, loaded) {
      const list = lastObject(calls, 'channels');
      const isRead = list !== undefined && loaded !== undefined;
      return { fields: isRead ? inspectChannelList(list, loaded.channel) : [], remarks: [] };
    },
  };
}

const VERSION_LOOKUP_MS = 10_000;
const VERSION_ORIGINS = {
  setting: 'set by YOUTUBE_CLIENT_VERSION',
  'built-in': 'built in',
  learned: 'learned by the service, or just now',
} as const;

function createClient({ origin, isPublic }: UpstreamOrigin, userAgent: string): HttpClient {
  return createHttpClient({
    allowedOrigins: isPublic ? [origin] : [],
    privateOrigins: isPublic ? [] : [origin],
    followRedirects: false,
    userAgent,
  });
}

function nameYoutubeCall({ url, body }: HttpRequest): string {
  const { pathname } = new URL(url);
  if (pathname === '/' || pathname === '/sw.js_data') return 'version';
  if (pathname.startsWith('/feeds/')) return 'feed';
  if (pathname.endsWith('/resolve_url')) return 'resolve';
  const { continuation, params } = JSON.parse(body ?? '{}') as JsonObject;
  if (continuation !== undefined) return 'about';
  return params === undefined ? 'page' : 'about tab';
}

/** Passes over a page of HTML or a cut answer: the source has said already what is wrong with it. */
function lastObject(calls: readonly RecordedCall[], name: string): JsonObject | undefined {
  return calls
    .filter((call) => call.name === name)
    .map(({ body }) => (body === null ? undefined : parseJsonObject(body)))
    .findLast((value) => value !== undefined);
}

/** One outgoing call and what came of it. */
export interface RecordedCall {
  /** What was asked for. */
  readonly name: string;
  readonly method: string;
  /** Without headers: these may hold a key. */
  readonly url: string;
  /** What the body asks for, without what every body says of the client. */
  readonly parameters?: JsonObject;
  readonly durationMs: number;
  /** `null` when there was no answer. */
  readonly status: number | null;
  readonly body: Buffer | null;
  /** Why there was no answer. */
  readonly problem: string | null;
}

/** The same client, with every call noted down in the order in which they end. */
export function recordCalls(
  http: HttpClient,
  { calls, clock, nameOf }: { calls: RecordedCall[]; clock: Clock; nameOf: (request: HttpRequest) => string },
): HttpClient {
  return {
    async request(request) {
      const startedAt = clock.monotonic();
      const note = (came: Pick<RecordedCall, 'status' | 'body' | 'problem'>) => {
        const { method, url, body } = request;
        const durationMs = clock.monotonic() - startedAt;
        const { context: _, ...parameters } = (body === undefined ? {} : JSON.parse(body)) as JsonObject;
        calls.push({ name: nameOf(request), method, url, ...(body && { parameters }), durationMs, ...came });
      };
      try {
        const response = await http.request(request);
        note({ status: response.status, body: response.body, problem: null });
        return response;
      } catch (error) {
        note({ status: null, body: null, problem: error instanceof AppError ? explain(error) : String(error) });
        throw error;
      }
    },
    close: () => http.close(),
  };
}

/** A failure with the reason that clients of the service are not told. */
export function explain({ message, cause }: AppError): string {
  return cause instanceof Error ? `${message} (${reasonOf(cause)})` : message;
}

function reasonOf(error: Error): string {
  const { code } = error as NodeJS.ErrnoException;
  return [error.message, code].find((text) => text !== undefined && text !== '') ?? error.name;
}
