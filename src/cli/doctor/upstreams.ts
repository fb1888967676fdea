import type { Config } from '../../config/settings.ts';
import { systemClock } from '../../lib/clock.ts';
import type { HttpClient, HttpRequest } from '../../lib/http/client.ts';
import { describeFailure } from '../../lib/logger.ts';
import { createSource } from '../../sources/registry.ts';
import { type LoadedChannel, SOLO_LEASE } from '../../sources/source.ts';
import { lookUpClientVersion } from '../../sources/youtube/client-version.ts';
import { inspectChannel } from '../../sources/youtube/inspect.ts';
import { type JsonObject, parseJsonObject } from '../../sources/youtube/json.ts';
import { inspectChannelList } from '../../sources/youtube-data-api/parse.ts';
import { keptKey } from '../../store/keys.ts';
import { chooseStore } from '../../store/registry.ts';
import { StoreUnreadableError } from '../../store/store.ts';

export const SOURCE_NAMES = ['youtube', 'youtube-data-api'] as const;
export type SourceName = (typeof SOURCE_NAMES)[number];

export interface UpstreamOptions {
  readonly config: Config;
  readonly userAgent: string;
  readonly calls: RecordedCall[];
}

export type CurrentVersion = Partial<Awaited<ReturnType<typeof lookUpClientVersion>>>;

const VERSION_LOOKUP_MS = 10_000;

/** A source whose calls are recorded, without caches, budgets, breakers and retries. */
export function openUpstream(name: SourceName, { config, userAgent, calls }: UpstreamOptions) {
  let http: HttpClient | undefined;
  const unlimited = { ...config, youtubeApiDailyQuota: Number.MAX_SAFE_INTEGER };
  const source = createSource(name, unlimited, {
    clock: systemClock,
    userAgent,
    wrapHttp(_upstream, client) {
      http = recordCalls(client, calls, nameCall);
      return http;
    },
    // The doctor changes nothing.
    keptText: (text) => ({ read: () => readStored(config, keptKey(text)), write: async () => undefined }),
    lease: SOLO_LEASE,
    onStateChange: () => undefined,
    onClientVersion: () => undefined,
    onField: () => undefined,
  });
  return {
    source,
    /** The client version that YouTube names. */
    async findCurrentVersion(): Promise<CurrentVersion> {
      const { youtubeOrigin: origin } = config;
      return http ? lookUpClientVersion({ http, origin, clock: systemClock, timeoutMs: VERSION_LOOKUP_MS }) : {};
    },
  };
}

/** A value that the service has stored. */
async function readStored(config: Config, key: string): Promise<string | undefined> {
  try {
    return await chooseStore(config).read(key);
  } catch (error) {
    if (error instanceof StoreUnreadableError) return undefined;
    throw error;
  }
}

type Inspection = (
  calls: readonly RecordedCall[],
  loaded: LoadedChannel | undefined,
) => ReturnType<typeof inspectChannel>;

/** Compares the responses of a source with the layouts that it knows. */
export const INSPECTIONS: Record<SourceName, Inspection> = {
  youtube(calls) {
    const page = lastObject(calls, 'page');
    if (page === undefined) return { fields: [], remarks: [] };
    const tab = lastObject(calls, 'about tab');
    return inspectChannel({
      page: tab === undefined ? page : { ...page, contents: tab.contents },
      about: lastObject(calls, 'about') ?? {},
    });
  },

  'youtube-data-api'(calls, loaded) {
    const list = lastObject(calls, 'channels');
    const isRead = list !== undefined && loaded !== undefined;
    return { fields: isRead ? inspectChannelList(list, loaded.channel) : [], remarks: [] };
  },
};

function nameCall({ url, body }: HttpRequest): string {
  const { pathname } = new URL(url);
  if (pathname === '/' || pathname === '/sw.js_data') return 'version';
  if (pathname.startsWith('/feeds/')) return 'feed';
  if (pathname.endsWith('/resolve_url')) return 'resolve';
  if (pathname.endsWith('/v3/channels')) return 'channels';
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
