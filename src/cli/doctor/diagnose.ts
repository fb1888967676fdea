import { createImageClient } from '../../app/upstreams.ts';
import type { Config } from '../../config/settings.ts';
import { AppError, valueOrError } from '../../domain/errors.ts';
import type { ChannelRef } from '../../domain/identifier.ts';
import { createDownloader } from '../../images/download.ts';
import { systemClock } from '../../lib/clock.ts';
import type { HttpClient, HttpRequest } from '../../lib/http/http-client.ts';
import { createPause } from '../../lib/http/pause.ts';
import { describeFailure } from '../../lib/logger.ts';
import { type JsonObject, parseJsonObject } from '../../sources/json.ts';
import { SOURCE_FACTORIES } from '../../sources/registry.ts';
import {
  type ChannelSource,
  type FieldFinding,
  isDrift,
  type LoadedChannel,
  type LoadOptions,
  type WayIn,
} from '../../sources/source.ts';
import { readInitialData } from '../../sources/youtube/initial-data.ts';
import { inspectChannel } from '../../sources/youtube/inspect.ts';
import { inspectChannelList } from '../../sources/youtube-data-api/parse.ts';
import { probe, probeWays } from './probe.ts';

export type Diagnosis = Awaited<ReturnType<typeof diagnose>>;

interface DiagnoseOptions extends UpstreamOptions {
  readonly asked: string;
  /** The channels that it may name, in the order to try them. */
  readonly refs: readonly ChannelRef[];
  readonly sourceName: SourceName;
  /** Fields of a record that this channel has. */
  readonly expected: readonly string[];
  /** Loads whole pages of YouTube: a moved field may be outside the parts that the service requests. */
  readonly wantsWholePages: boolean;
}

/** For the feed and the images, from the start on. Each call has its own, shorter deadline. */
const TOTAL_MS = 60_000;

/** Loads a channel and its images in the same way as the service, without any cache. */
export async function diagnose(options: DiagnoseOptions) {
  const { asked, refs, sourceName, expected, wantsWholePages, ...settings } = options;
  const { source, calls } = openUpstream(sourceName, wantsWholePages, settings);
  const signal = AbortSignal.timeout(TOTAL_MS);
  const requestedIds: string[] = [];
  const observed = {
    ...source,
    getChannel(channelId: string, options: LoadOptions) {
      requestedIds.push(channelId);
      return source.getChannel(channelId, options);
    },
  };
  try {
    const result = await probe(observed, refs, sourceName === 'youtube');
    const { failure, loaded, search } = { loaded: undefined, search: undefined, ...result };
    // An alert ("no such channel") and an HTML page have no fields.
    const isWorthInspecting = failure === undefined || failure.code === 'upstream_invalid';
    const found = isWorthInspecting ? inspectResponses(sourceName, calls, loaded) : NOTHING_FOUND;
    const fields = found.fields.map((finding) => (expected.includes(finding.field) ? requireValue(finding) : finding));
    const channelId = requestedIds.at(-1) ?? loaded?.channel.channelId ?? null;
    // If upstream blocks requests, that is already shown.
    if (isWorthInspecting && channelId !== null) {
      const before = calls.length;
      fields.push(...(await probeWays(source, channelId)).map(describeWay));
      // Apart from the calls of the load.
      calls.push(...calls.splice(before).map((call) => ({ ...call, name: `way: ${call.name}` })));
    }
    if (loaded !== undefined) {
      if (sourceName === 'youtube') fields.push(await inspectFeed(source, loaded.channel.channelId, calls, signal));
      if (search !== undefined) fields.push(describeSearch(search));
      fields.push(...(await inspectImages(loaded, calls, { ...settings, signal })));
    }
    return {
      asked,
      source: sourceName,
      origin: source.origin ?? '',
      channelId,
      /** True if there is a record, and every field is fine, or absent and not expected. */
      isFine: failure === undefined && !fields.some(isDrift),
      /** Why there is no record. */
      failure: failure === undefined ? null : { code: failure.code, message: describeFailure(failure) },
      calls,
      fields,
      remarks: found.remarks,
    };
  } finally {
    await source.close();
  }
}

/** An expected field without a value is missing. */
function requireValue(finding: FieldFinding): FieldFinding {
  const { state, value, note } = finding;
  const isEmpty = value === null || value === '' || (Array.isArray(value) && value.length === 0);
  if (!isEmpty || state === 'unreadable') return finding;
  return { ...finding, state: 'missing', note: ['expected', note].filter((part) => part !== null).join('; ') };
}

/** One finding for each way to a record. */
function describeWay({ name, isInUse, result }: WayIn): FieldFinding {
  const finding = { field: `way: ${name}`, path: null };
  const use = isInUse ? 'in use' : null;
  if (!(result instanceof AppError)) return { ...finding, state: 'fine', value: result, note: use };
  const note = [use, describeFailure(result)].filter((part) => part !== null).join('; ');
  return { ...finding, state: result.code === 'upstream_invalid' ? 'unreadable' : 'missing', value: null, note };
}

async function inspectFeed(
  source: ChannelSource,
  channelId: string,
  calls: readonly RecordedCall[],
  signal: AbortSignal,
): Promise<FieldFinding> {
  const finding = { field: 'publishedAt (feed)', path: 'feed.published', note: null };
  const value = await valueOrError(source.findPublishedAt?.(channelId, { signal }));
  if (typeof value === 'string') return { ...finding, state: 'fine', value };
  if (calls.findLast(({ name }) => name === 'feed')?.status === 200) {
    return { ...finding, state: 'unreadable', value: null, note: 'the feed was loaded, but its time cannot be read' };
  }
  return { ...finding, state: 'absent', value: null, path: null, note: 'not available; feeds often fail for days' };
}

function describeSearch(search: number | AppError): FieldFinding {
  const finding = { field: 'search', path: null, note: null };
  if (!(search instanceof AppError)) return { ...finding, state: 'fine', value: `${search} channels found` };
  const state = search.code === 'upstream_invalid' ? 'unreadable' : 'missing';
  return { ...finding, state, value: null, note: describeFailure(search) };
}

async function inspectImages(
  { channel }: LoadedChannel,
  calls: RecordedCall[],
  { config, userAgent, signal }: UpstreamOptions & { readonly signal: AbortSignal },
): Promise<FieldFinding[]> {
  const http = createImageClient(config, userAgent, systemClock);

  async function inspectImage(kind: 'banner' | 'avatar'): Promise<FieldFinding[]> {
    const ref = channel[kind];
    if (ref?.kind !== 'remote') return [];
    const tried: RecordedCall[] = [];
    const downloader = createDownloader({
      http: recordCalls(http, tried, () => `${kind} image`),
      imageOrigin: config.youtubeImageOrigin,
    });
    const finding = { field: `${kind} (original)`, path: ref.key };
    const bytes = await valueOrError(downloader.download(ref, { signal }));
    calls.push(...tried);
    if (bytes instanceof AppError) return [{ ...finding, state: 'missing', value: null, note: describeFailure(bytes) }];
    const value = `${bytes.length} bytes`;
    if (tried.length === 1) return [{ ...finding, state: 'fine', value, note: null }];
    return [{ ...finding, state: 'older', value, note: 'the original (=s0) was refused' }];
  }

  try {
    return (await Promise.all([inspectImage('banner'), inspectImage('avatar')])).flat();
  } finally {
    await http.close();
  }
}

export const SOURCE_NAMES = ['youtube', 'youtube-data-api'] as const;
type SourceName = (typeof SOURCE_NAMES)[number];

interface UpstreamOptions {
  readonly config: Config;
  readonly userAgent: string;
}

/** A source whose calls are recorded, without caches, budgets, pauses and retries. */
function openUpstream(name: SourceName, wantsWholePages: boolean, { config, userAgent }: UpstreamOptions) {
  const calls: RecordedCall[] = [];
  const unlimited = { ...config, youtubeApiDailyQuota: Number.MAX_SAFE_INTEGER };
  const source = SOURCE_FACTORIES[name](unlimited, {
    clock: systemClock,
    userAgent,
    wrapHttp: (_upstream, client) => recordCalls(client, calls, nameCall),
    // Each call is made.
    pauseOf: () => ({ ...createPause({ clock: systemClock, label: 'YouTube' }), check: () => undefined }),
    keptQuota: { read: async () => undefined, write: async () => undefined },
    onClientVersion: () => undefined,
    onField: () => undefined,
    single: { wantsWholePages },
  });
  return { source, calls };
}

const NOTHING_FOUND = { fields: [], remarks: [] };

/** Compares the responses of a source with the layouts that it knows. */
function inspectResponses(source: SourceName, calls: readonly RecordedCall[], loaded: LoadedChannel | undefined) {
  if (source === 'youtube-data-api') {
    const list = lastObject(calls, 'channels');
    const isRead = list !== undefined && loaded !== undefined;
    return isRead ? { fields: inspectChannelList(list, loaded.channel), remarks: [] } : NOTHING_FOUND;
  }
  const html = calls.find(({ name, status }) => name === 'about page' && status === 200)?.body;
  const page = html ? readInitialData(html) : lastObject(calls, 'page');
  if (page === undefined) return NOTHING_FOUND;
  const tab = lastObject(calls, 'about tab');
  const whole = tab === undefined ? page : { ...page, contents: tab.contents };
  return inspectChannel({ page: whole, about: lastObject(calls, 'about') ?? {} });
}

function nameCall({ url, body }: HttpRequest): string {
  const { pathname } = new URL(url);
  if (pathname === '/' || pathname === '/sw.js_data') return 'version';
  if (pathname.startsWith('/feeds/')) return 'feed';
  if (pathname.endsWith('/about')) return 'about page';
  if (pathname.endsWith('/resolve_url')) return 'resolve';
  if (pathname.endsWith('/search')) return 'search';
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
function recordCalls(http: HttpClient, calls: RecordedCall[], nameOf: (request: HttpRequest) => string): HttpClient {
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
