import { createImageClient } from '../../app/upstreams.ts';
import { AppError, type ErrorCode, valueOrError } from '../../domain/errors.ts';
import type { ChannelRef } from '../../domain/identifier.ts';
import { createDownloader } from '../../images/download.ts';
import { systemClock } from '../../lib/clock.ts';
import { withDeadline } from '../../lib/deadlines.ts';
import { describeFailure } from '../../lib/logger.ts';
import { type JsonObject, parseJsonObject } from '../../sources/json.ts';
import { type ChannelSource, type FieldFinding, isDrift, type LoadedChannel, loadFirst } from '../../sources/source.ts';
import { readInitialData } from '../../sources/youtube/initial-data.ts';
import { inspectChannel } from '../../sources/youtube/inspect.ts';
import { inspectChannelList } from '../../sources/youtube-data-api/parse.ts';
import {
  type DiagnosedSource,
  openSource,
  type RecordedCall,
  recordCalls,
  type UpstreamOptions,
} from './recorded-calls.ts';

export interface Diagnosis {
  readonly asked: string;
  readonly source: DiagnosedSource;
  readonly origin: string;
  /** `null` if it is not known. */
  readonly channelId: string | null;
  /** True if there is a record, and every field is fine, or absent and not expected. */
  readonly isFine: boolean;
  /** Why there is no record. */
  readonly failure: { readonly code: ErrorCode; readonly message: string } | null;
  readonly calls: readonly RecordedCall[];
  readonly fields: readonly FieldFinding[];
  readonly remarks: readonly string[];
}

interface DiagnoseOptions extends UpstreamOptions {
  readonly asked: string;
  /** The channels that it may name, in the order to try them. */
  readonly refs: readonly ChannelRef[];
  readonly sourceName: DiagnosedSource;
  /** Fields of a record that this channel has. */
  readonly expected: readonly string[];
  /** Loads whole pages of YouTube: a moved field may be outside the parts that the service requests. */
  readonly wantsWholePages: boolean;
}

/** The deadline of the feed and the images, from the start of the diagnosis. Each call has its own, shorter one. */
const TOTAL_MS = 60_000;
/** The time limit of the load and of the search. */
const CALLS_MS = 20_000;
/** As many as a client gets by default. */
const HITS = 20;

/** Loads a channel and its images in the same way as the service, without any cache. */
export async function diagnose(options: DiagnoseOptions): Promise<Diagnosis> {
  const { asked, refs, sourceName, expected, wantsWholePages, ...settings } = options;
  const { source, calls } = openSource(sourceName, wantsWholePages, settings);
  const signal = AbortSignal.timeout(TOTAL_MS);
  const isYoutube = sourceName === 'youtube';
  try {
    const { channelId, loaded, failure } = await load(source, refs);
    // The Data API allows few searches.
    const search = loaded && isYoutube ? [await inspectSearch(source, loaded.channel.title)] : [];
    // An alert ("no such channel") and an HTML page have no fields. If upstream blocks requests, that is already shown.
    const isWorthInspecting = failure === undefined || failure.code === 'upstream_invalid';
    const responses = isWorthInspecting ? inspectResponses(sourceName, calls, loaded) : NOTHING_FOUND;
    const isExpected = ({ field }: FieldFinding) => expected.includes(field);
    const fields = [
      ...responses.fields.map((finding) => (isExpected(finding) ? missingIfEmpty(finding) : finding)),
      ...(loaded && isYoutube ? [inspectFeed(loaded, calls)] : []),
      ...search,
      ...(loaded ? await inspectImages(loaded, calls, { ...settings, signal }) : []),
    ];
    return {
      asked,
      source: sourceName,
      origin: source.origin ?? '',
      channelId,
      isFine: failure === undefined && !fields.some(isDrift),
      failure: failure === undefined ? null : { code: failure.code, message: describeFailure(failure) },
      calls,
      fields,
      remarks: responses.remarks,
    };
  } finally {
    await source.close();
  }
}

/** The record, or why there is none, and the ID under which it was requested; `null` if it is not known. */
async function load(source: ChannelSource, refs: readonly ChannelRef[]) {
  let channelId: string | null = null;
  const getChannel: ChannelSource['getChannel'] = (requestedId, options) => {
    channelId = requestedId;
    return source.getChannel(requestedId, options);
  };
  const found = await resultInTime((signal) => loadFirst({ ...source, getChannel }, refs, { signal }));
  if (found instanceof AppError) return { channelId, failure: found };
  return { channelId: channelId ?? found.loaded.channel.channelId, loaded: found.loaded };
}

/** The result of the calls, or the expected failure, within `CALLS_MS`. */
function resultInTime<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T | AppError> {
  return valueOrError(withDeadline(systemClock, CALLS_MS, new AbortController().signal, work));
}

/** An expected field without a value is missing. */
function missingIfEmpty(finding: FieldFinding): FieldFinding {
  const { state, value, note } = finding;
  const isEmpty = value === null || value === '' || (Array.isArray(value) && value.length === 0);
  if (!isEmpty || state === 'unreadable') return finding;
  return { ...finding, state: 'missing', note: ['expected', note].filter((part) => part !== null).join('; ') };
}

/** The number of hits for the channel's title, which is 0 for some channels, or why the search failed. */
async function inspectSearch(source: ChannelSource, title: string): Promise<FieldFinding> {
  const finding = { field: 'search', path: null };
  const page = await resultInTime((signal) => source.search(title, HITS, { signal }));
  if (page instanceof AppError) {
    return { ...finding, state: stateAfter(page), value: null, note: describeFailure(page) };
  }
  return { ...finding, state: 'fine', value: `${page.hits.length} channels found`, note: null };
}

function stateAfter(failure: AppError): FieldFinding['state'] {
  return failure.code === 'upstream_invalid' ? 'unreadable' : 'missing';
}

function inspectFeed({ feed }: LoadedChannel, calls: readonly RecordedCall[]): FieldFinding {
  const finding = { field: 'publishedAt (feed)', path: 'feed.published', note: null };
  if (feed !== undefined) return { ...finding, state: 'fine', value: feed.publishedAt };
  if (calls.findLast(({ name }) => name === 'feed')?.status === 200) {
    return { ...finding, state: 'unreadable', value: null, note: 'the feed was loaded, but its time cannot be read' };
  }
  return { ...finding, state: 'absent', value: null, path: null, note: 'not available; feeds often fail for days' };
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
      imageOrigin: config.youtubeOrigin,
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

const NOTHING_FOUND = { fields: [], remarks: [] };

/** Compares the responses of a source with the layouts that it knows. */
function inspectResponses(source: DiagnosedSource, calls: readonly RecordedCall[], loaded: LoadedChannel | undefined) {
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

/** Skips HTML pages and incomplete responses, whose errors the source reports. */
function lastObject(calls: readonly RecordedCall[], name: string): JsonObject | undefined {
  return calls
    .filter((call) => call.name === name)
    .map(({ body }) => (body === null ? undefined : parseJsonObject(body)))
    .findLast((value) => value !== undefined);
}
