import { createImageClient } from '../../app/upstreams.ts';
import type { Config } from '../../config/settings.ts';
import type { OriginalRef } from '../../domain/channel.ts';
import { AppError, type ErrorCode } from '../../domain/errors.ts';
import type { ChannelRef } from '../../domain/identifier.ts';
import { createDownloader } from '../../images/download.ts';
import { systemClock } from '../../lib/clock.ts';
import { describeFailure } from '../../lib/logger.ts';
import { type FieldFinding, isDrift, type LoadedChannel } from '../../sources/source.ts';
import {
  createUpstream,
  type RecordedCall,
  recordCalls,
  type SourceName,
  type Upstream,
  type UpstreamOptions,
} from './upstreams.ts';

export interface Diagnosis {
  readonly asked: string;
  readonly source: SourceName;
  readonly origin: string;
  readonly channelId: string | null;
  /** True if every field is fine or absent. */
  readonly isFine: boolean;
  /** Why there is no record. */
  readonly failure: { readonly code: ErrorCode; readonly message: string } | null;
  readonly calls: readonly RecordedCall[];
  readonly fields: readonly FieldFinding[];
  readonly remarks: readonly string[];
}

export interface DiagnoseOptions {
  readonly asked: string;
  /** The channels that it may name, in the order to try them. */
  readonly refs: readonly ChannelRef[];
  readonly sourceName: SourceName;
  readonly config: Config;
  readonly userAgent: string;
}

/** For all calls together. Each call has its own, shorter deadline. */
const TOTAL_MS = 60_000;

/** Loads a channel and its pictures in the same way as the service, without any cache. */
export async function diagnose({ asked, refs, sourceName, ...settings }: DiagnoseOptions): Promise<Diagnosis> {
  const calls: RecordedCall[] = [];
  const upstream = createUpstream(sourceName, { ...settings, calls });
  const signal = AbortSignal.timeout(TOTAL_MS);
  try {
    const { channelId, loaded, failure } = await load(upstream, refs, signal);
    // An alert ("no such channel") and an HTML page have no fields.
    const isWorthInspecting = loaded !== undefined || failure?.code === 'upstream_invalid';
    const found = isWorthInspecting ? upstream.inspect(loaded) : { fields: [], remarks: [] };
    const fields = [...found.fields];
    // If upstream blocks requests, that is already shown.
    if (isWorthInspecting && upstream.inspectClientVersion !== undefined)
      fields.push(await upstream.inspectClientVersion());
    if (loaded !== undefined) {
      if (upstream.hasFeed) fields.push(await inspectFeed(upstream, loaded.channel.channelId, calls, signal));
      fields.push(...(await inspectPictures(loaded, { ...settings, calls, signal })));
    }
    return {
      asked,
      source: sourceName,
      origin: upstream.origin,
      channelId: channelId ?? null,
      isFine: failure === undefined && !fields.some(isDrift),
      failure: failure === undefined ? null : { code: failure.code, message: describeFailure(failure) },
      calls,
      fields,
      remarks: found.remarks,
    };
  } finally {
    await upstream.source.close();
  }
}

interface LoadOutcome {
  readonly channelId?: string;
  readonly loaded?: LoadedChannel;
  readonly failure?: AppError;
}

async function load({ source }: Upstream, refs: readonly ChannelRef[], signal: AbortSignal): Promise<LoadOutcome> {
  let failure: AppError | undefined;
  for (const ref of refs) {
    let channelId: string | undefined;
    try {
      const resolved = ref.kind === 'id' ? { channelId: ref.value } : await source.resolve(ref, { signal });
      channelId = resolved.channelId;
      return { channelId, loaded: resolved.loaded ?? (await source.getChannel(channelId, { signal })) };
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      failure = error;
      if (channelId !== undefined) return { channelId, failure };
      // As in the service: the next identifier is tried only after a definite "no such channel".
      if (error.code !== 'channel_not_found') break;
    }
  }
  return failure === undefined ? {} : { failure };
}

async function inspectFeed(
  { source }: Upstream,
  channelId: string,
  calls: readonly RecordedCall[],
  signal: AbortSignal,
): Promise<FieldFinding> {
  const finding = { field: 'publishedAt (feed)', path: 'feed.published', note: null };
  const value = await unlessFailed(source.findPublishedAt(channelId, { signal }));
  if (typeof value === 'string') return { ...finding, state: 'fine', value };
  if (calls.findLast(({ name }) => name === 'feed')?.status === 200) {
    return { ...finding, state: 'unreadable', value: null, note: 'the feed was loaded, but its time cannot be read' };
  }
  return { ...finding, state: 'absent', value: null, path: null, note: 'not available; feeds often fail for days' };
}

async function inspectPictures(
  { channel }: LoadedChannel,
  { config, userAgent, calls, signal }: UpstreamOptions & { readonly signal: AbortSignal },
): Promise<FieldFinding[]> {
  const http = createImageClient(config, userAgent, systemClock);

  async function inspectPicture(kind: 'banner' | 'avatar', ref: OriginalRef | null): Promise<FieldFinding[]> {
    if (ref === null || ref.kind !== 'remote') return [];
    const tried: RecordedCall[] = [];
    const downloader = createDownloader({
      http: recordCalls(http, tried, () => `${kind} picture`),
      imageOrigin: config.youtubeImageOrigin,
    });
    const finding = { field: `${kind} (original)`, path: ref.key };
    const bytes = await unlessFailed(downloader.download(ref, { signal }));
    calls.push(...tried);
    if (bytes instanceof AppError) return [{ ...finding, state: 'missing', value: null, note: describeFailure(bytes) }];
    const value = `${bytes.length} bytes`;
    return [
      tried.length === 1
        ? { ...finding, state: 'fine', value, note: null }
        : { ...finding, state: 'older', value, note: 'the original (=s0) was refused' },
    ];
  }

  try {
    const found = await Promise.all([
      inspectPicture('banner', channel.banner),
      inspectPicture('avatar', channel.avatar),
    ]);
    return found.flat();
  } finally {
    await http.close();
  }
}

async function unlessFailed<T>(work: Promise<T>): Promise<T | AppError> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof AppError) return error;
    throw error;
  }
}
