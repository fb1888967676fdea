import { type Config, SETTINGS } from '../../config/settings.ts';
import { systemClock } from '../../lib/clock.ts';
import { createHttpClient, type HttpClient, type HttpRequest } from '../../lib/http/client.ts';
import { describeFailure } from '../../lib/logger.ts';
import { type FieldFinding, type LoadedChannel, SOLO_LEASE, type SourceWithDates } from '../../sources/source.ts';
import { createClientVersions } from '../../sources/youtube/client-version.ts';
import { lookUpClientVersion } from '../../sources/youtube/client-version-lookup.ts';
import { inspectChannel } from '../../sources/youtube/inspect.ts';
import { type JsonObject, parseJsonObject } from '../../sources/youtube/json.ts';
import { createYoutubeSource } from '../../sources/youtube/youtube.ts';
import { createYoutubeDataApiSource } from '../../sources/youtube-data-api/client.ts';
import { inspectChannelList } from '../../sources/youtube-data-api/parse.ts';
import { keptKey } from '../../store/keys.ts';
import { chooseStore } from '../../store/registry.ts';
import { StoreUnreadableError } from '../../store/store.ts';

export const SOURCE_NAMES = ['youtube', 'youtube-data-api'] as const;
export type SourceName = (typeof SOURCE_NAMES)[number];

/** A source whose calls are recorded, without caches, budgets, breakers and retries. */
export interface Upstream {
  readonly source: SourceWithDates;
  readonly origin: string;
  /** True if the exact creation time needs another call. */
  readonly hasFeed: boolean;
  /** Details of the responses, besides the record that was read from them. */
  inspect(loaded: LoadedChannel | undefined): {
    readonly fields: readonly FieldFinding[];
    readonly remarks: readonly string[];
  };
  /** The client version that calls named, if they name one. */
  inspectClientVersion?(): Promise<FieldFinding>;
}

export interface UpstreamOptions {
  readonly config: Config;
  readonly userAgent: string;
  readonly calls: RecordedCall[];
}

export function createUpstream(name: SourceName, options: UpstreamOptions): Upstream {
  return name === 'youtube' ? createYoutube(options) : createDataApi(options);
}

function createYoutube({ config, userAgent, calls }: UpstreamOptions): Upstream {
  const { youtubeOrigin: origin, youtubeClientVersion, youtubeFieldMask, youtubeAboutToken } = config;
  const http = recordCalls(createClient(origin, SETTINGS.youtubeOrigin.fallback, userAgent), calls, nameYoutubeCall);
  const clientVersions = createClientVersions({
    setting: youtubeClientVersion,
    http,
    origin,
    clock: systemClock,
    // The doctor changes nothing.
    kept: { read: () => readKeptVersions(config), write: async () => undefined },
    lease: SOLO_LEASE,
    onChange: () => undefined,
  });
  return {
    source: createYoutubeSource({
      http,
      origin,
      clock: systemClock,
      clientVersions,
      useFieldMask: youtubeFieldMask,
      aboutToken: youtubeAboutToken,
    }),
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
      const current = version === undefined ? undefined : `YouTube’s own is ${version}`;
      return {
        field: 'client version',
        state: version === undefined ? 'unreadable' : 'fine',
        value: used.version,
        path: null,
        note: [VERSION_ORIGINS[used.origin], current, problem].filter((note) => note !== undefined).join('; '),
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

/** The learned versions that the service has stored. */
async function readKeptVersions(config: Config): Promise<string | undefined> {
  try {
    return await chooseStore(config).read(keptKey('youtube-client-version'));
  } catch (error) {
    if (error instanceof StoreUnreadableError) return undefined;
    throw error;
  }
}

function createDataApi({ config, userAgent, calls }: UpstreamOptions): Upstream {
  const { youtubeApiOrigin: origin, youtubeApiKey: apiKey = '' } = config;
  const http = createClient(origin, SETTINGS.youtubeApiOrigin.fallback, userAgent);
  return {
    source: createYoutubeDataApiSource({
      http: recordCalls(http, calls, () => 'channels'),
      origin,
      apiKey,
      clock: systemClock,
      unitsPerDay: Number.MAX_SAFE_INTEGER,
      searchesPerDay: Number.MAX_SAFE_INTEGER,
    }),
    origin,
    hasFeed: false,
    inspect(loaded) {
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

/** An origin that is not public belongs to the operator. */
function createClient(origin: string, publicOrigin: string, userAgent: string): HttpClient {
  const isPublic = origin === publicOrigin;
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
  calls: RecordedCall[],
  nameOf: (request: HttpRequest) => string,
): HttpClient {
  return {
    async request(request) {
      const startedAt = systemClock.monotonic();
      const note = (came: Pick<RecordedCall, 'status' | 'body' | 'problem'>) => {
        const { method, url, body } = request;
        const durationMs = systemClock.monotonic() - startedAt;
        const { context: _, ...parameters } = (body === undefined ? {} : JSON.parse(body)) as JsonObject;
        calls.push({ name: nameOf(request), method, url, ...(body && { parameters }), durationMs, ...came });
      };
      try {
        const response = await http.request(request);
        note({ status: response.status, body: response.body, problem: null });
        return response;
      } catch (error) {
        note({ status: null, body: null, problem: describeFailure(error) });
        throw error;
      }
    },
    close: () => http.close(),
  };
}
