import { createImageClient } from '../../app/upstreams.ts';
import { AppError } from '../../domain/errors.ts';
import type { ChannelRef } from '../../domain/identifier.ts';
import type { ClientVersionState } from '../../domain/source-status.ts';
import { createDownloader } from '../../images/download.ts';
import { systemClock } from '../../lib/clock.ts';
import { describeFailure } from '../../lib/logger.ts';
import {
  type ChannelSource,
  type FieldFinding,
  isDrift,
  type LoadedChannel,
  type LoadOptions,
  loadFirst,
} from '../../sources/source.ts';
import {
  type CurrentVersion,
  INSPECTIONS,
  openUpstream,
  type RecordedCall,
  recordCalls,
  type SourceName,
  type UpstreamOptions,
} from './upstreams.ts';

export type Diagnosis = Awaited<ReturnType<typeof diagnose>>;

export interface DiagnoseOptions extends Omit<UpstreamOptions, 'calls'> {
  readonly asked: string;
  /** The channels that it may name, in the order to try them. */
  readonly refs: readonly ChannelRef[];
  readonly sourceName: SourceName;
}

/** For all calls together. Each call has its own, shorter deadline. */
const TOTAL_MS = 60_000;

/** Loads a channel and its pictures in the same way as the service, without any cache. */
export async function diagnose({ asked, refs, sourceName, ...settings }: DiagnoseOptions) {
  const calls: RecordedCall[] = [];
  const { source, findCurrentVersion } = openUpstream(sourceName, { ...settings, calls });
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
    const result = await unlessFailed(loadFirst(observed, refs, { signal }));
    const [loaded, failure] = result instanceof AppError ? [undefined, result] : [result.loaded, undefined];
    // An alert ("no such channel") and an HTML page have no fields.
    const isWorthInspecting = failure === undefined || failure.code === 'upstream_invalid';
    const found = isWorthInspecting ? INSPECTIONS[sourceName](calls, loaded) : { fields: [], remarks: [] };
    const fields = [...found.fields];
    const { clientVersion } = source.status?.() ?? {};
    // If upstream blocks requests, that is already shown.
    if (isWorthInspecting && clientVersion !== undefined) {
      fields.push(describeVersion(clientVersion, await findCurrentVersion()));
    }
    if (loaded !== undefined) {
      if (sourceName === 'youtube') fields.push(await inspectFeed(source, loaded.channel.channelId, calls, signal));
      fields.push(...(await inspectPictures(loaded, { ...settings, calls, signal })));
    }
    return {
      asked,
      source: sourceName,
      origin: source.origin ?? '',
      channelId: requestedIds.at(-1) ?? loaded?.channel.channelId ?? null,
      /** True if every field is fine or absent. */
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

const VERSION_ORIGINS = {
  setting: 'set by YOUTUBE_CLIENT_VERSION',
  'built-in': 'built in',
  learned: 'learned by the service, or just now',
} as const;

/** The client version that calls named, with the one that YouTube names. */
function describeVersion(used: ClientVersionState, { version, problem }: CurrentVersion): FieldFinding {
  const current = version === undefined ? undefined : `YouTube’s own is ${version}`;
  return {
    field: 'client version',
    state: version === undefined ? 'unreadable' : 'fine',
    value: used.version,
    path: null,
    note: [VERSION_ORIGINS[used.origin], current, problem].filter((note) => note !== undefined).join('; '),
  };
}

async function inspectFeed(
  source: ChannelSource,
  channelId: string,
  calls: readonly RecordedCall[],
  signal: AbortSignal,
): Promise<FieldFinding> {
  const finding = { field: 'publishedAt (feed)', path: 'feed.published', note: null };
  const value = await unlessFailed(source.findPublishedAt?.(channelId, { signal }));
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

  async function inspectPicture(kind: 'banner' | 'avatar'): Promise<FieldFinding[]> {
    const ref = channel[kind];
    if (ref?.kind !== 'remote') return [];
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
    if (tried.length === 1) return [{ ...finding, state: 'fine', value, note: null }];
    return [{ ...finding, state: 'older', value, note: 'the original (=s0) was refused' }];
  }

  try {
    return (await Promise.all([inspectPicture('banner'), inspectPicture('avatar')])).flat();
  } finally {
    await http.close();
  }
}

async function unlessFailed<T>(work: T | Promise<T>): Promise<T | AppError> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof AppError) return error;
    throw error;
  }
}
