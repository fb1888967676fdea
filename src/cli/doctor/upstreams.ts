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

/** The origin of an upstream. An origin that is not public belongs to the operator. */
export interface UpstreamOrigin {
  readonly origin: string;
  readonly isPublic: boolean;
}

export interface UpstreamSettings {
  readonly youtube: UpstreamOrigin & {
    /** The operator's version; `undefined`: the version is learned. */
    readonly clientVersion: string | undefined;
    /** Reads the learned versions that the service has stored. */
    readonly readKeptVersions: () => Promise<string | undefined>;
    readonly useFieldMask: boolean;
    readonly aboutToken: 'computed' | 'page';
  };
  readonly dataApi: UpstreamOrigin & { readonly apiKey: string | undefined };
  /** Replaces the image hosts. */
  readonly imageOrigin: string | undefined;
  readonly userAgent: string;
}

export const SOURCE_NAMES = ['youtube', 'youtube-data-api'] as const;
export type SourceName = (typeof SOURCE_NAMES)[number];

/** Details of the responses, besides the record that was read from them. */
export interface Findings {
  readonly fields: readonly FieldFinding[];
  readonly remarks: readonly string[];
}

/** A source whose calls are recorded, without caches, budgets, breakers and retries. */
export interface Upstream {
  readonly source: SourceWithDates;
  readonly origin: string;
  /** True if the exact creation time needs another call. */
  readonly hasFeed: boolean;
  inspect(channelId: string, loaded: LoadedChannel | undefined): Findings;
  /** The client version that calls named, if they name one. */
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
    // The doctor changes nothing.
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

/** Skips HTML pages and incomplete responses, whose errors the source reports. */
function lastObject(calls: readonly RecordedCall[], name: string): JsonObject | undefined {
  return calls
    .filter((call) => call.name === name)
    .map(({ body }) => (body === null ? undefined : parseJsonObject(body)))
    .findLast((value) => value !== undefined);
}

/** An outgoing call and its result. */
export interface RecordedCall {
  /** The kind of request. */
  readonly name: string;
  readonly method: string;
  /** Headers are not recorded, because they may contain a key. */
  readonly url: string;
  /** The body, without the part that describes the client. */
  readonly parameters?: JsonObject;
  readonly durationMs: number;
  /** `null` if there was no response. */
  readonly status: number | null;
  readonly body: Buffer | null;
  /** Why there was no response. */
  readonly problem: string | null;
}

/** The same client, with every call recorded in the order in which the calls end. */
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

/** The failure with its cause, which clients of the service do not see. */
export function explain({ message, cause }: AppError): string {
  return cause instanceof Error ? `${message} (${reasonOf(cause)})` : message;
}

function reasonOf(error: Error): string {
  const { code } = error as NodeJS.ErrnoException;
  return [error.message, code].find((text) => text !== undefined && text !== '') ?? error.name;
}
