import type { Clock } from '../../lib/clock.ts';
import { createHttpClient, type HttpClient, type HttpRequest } from '../../lib/http-client.ts';
import type { FieldFinding } from '../../sources/field-finding.ts';
import type { ChannelSource, LoadedChannel } from '../../sources/source.ts';
import { inspectChannel } from '../../sources/youtube/inspect.ts';
import { type JsonObject, parseJsonObject } from '../../sources/youtube/json.ts';
import { createYoutubeSource } from '../../sources/youtube/youtube.ts';
import { createYoutubeDataApiSource } from '../../sources/youtube-data-api/client.ts';
import { inspectChannelList } from '../../sources/youtube-data-api/inspect.ts';
import { type RecordedCall, recordCalls } from './recorded-calls.ts';

/** An address of an upstream; one that is not public is the operator's own. */
export interface UpstreamOrigin {
  readonly origin: string;
  readonly isPublic: boolean;
}

export interface UpstreamSettings {
  readonly youtube: UpstreamOrigin & {
    readonly clientVersion: string;
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
  readonly source: Required<Omit<ChannelSource, 'holders'>>;
  readonly origin: string;
  /** True where the exact creation time needs a call of its own. */
  readonly hasFeed: boolean;
  inspect(channelId: string, loaded: LoadedChannel | undefined): Findings;
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
  return {
    source: createYoutubeSource({ ...youtube, http }),
    origin: youtube.origin,
    hasFeed: true,
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
      unitsPerDay: Number.POSITIVE_INFINITY,
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
