import type { Config } from '../config/settings.ts';
import type { Channel, OriginalRef } from '../domain/channel.ts';
import { AppError } from '../domain/errors.ts';
import type { ChannelRef } from '../domain/identifier.ts';
import { systemClock } from '../lib/clock.ts';
import { createLogger } from '../lib/logger.ts';
import { createRuntime } from '../lib/runtime.ts';
import { isExact } from '../services/exact-publish-dates.ts';
import { loadFirst } from '../sources/source.ts';
import { createUpstreams, type Upstreams } from './upstreams.ts';

/** The current state of a channel in the live sources. */
export interface FetchedChannel {
  /** The reference that it was found by. */
  readonly ref: ChannelRef;
  readonly channel: Channel;
  /** The fields that no source returned because a call failed, and the pictures that are gone. */
  readonly missing: readonly string[];
  /** The bytes of the originals; `undefined`: the channel has none, or it is missing. */
  readonly banner: Buffer | undefined;
  readonly avatar: Buffer | undefined;
}

/**
 * Loads a channel and its pictures from the live sources in `SOURCES`. Reads and writes no cache.
 *
 * @param refs the first reference that leads to a channel is used
 * @throws AppError `channel_not_found`; `upstream_unavailable`, `upstream_timeout` or `upstream_invalid` if a source or
 *   an image host failed
 */
export async function fetchChannel(
  config: Config,
  refs: readonly ChannelRef[],
  { version, signal }: { readonly version: string; readonly signal: AbortSignal },
): Promise<FetchedChannel> {
  const sources = config.sources.filter((name) => name !== 'catalog');
  if (sources.length === 0) {
    throw new AppError('channel_not_found', 'SOURCES names no source that channels could be loaded from.');
  }
  const upstreams = createUpstreams({
    config: { ...config, sources },
    runtime: createRuntime({ clock: systemClock, logger: createLogger({ level: 'silent' }) }),
    stores: { store: NOTHING_STORED, redis: undefined, caches: {} },
    version,
  });
  try {
    const { ref, loaded } = await loadFirst(upstreams.failover, refs, { signal });
    const channel = await withExactPublishDate(loaded.channel, upstreams, signal);
    const pictures = {
      banner: await download(upstreams, channel.banner, signal),
      avatar: await download(upstreams, channel.avatar, signal),
    };
    const gone = PICTURE_KINDS.filter((kind) => channel[kind] !== null && pictures[kind] === undefined);
    return { ref, channel, missing: [...loaded.missing, ...gone], ...pictures };
  } finally {
    await upstreams.close();
  }
}

const NOTHING_STORED = { get: async () => undefined, set: async () => undefined };
const PICTURE_KINDS = ['banner', 'avatar'] as const;

async function withExactPublishDate(channel: Channel, { failover }: Upstreams, signal: AbortSignal): Promise<Channel> {
  if (isExact(channel.publishedAt)) return channel;
  const publishedAt = await failover.findPublishedAt(channel.channelId, { signal });
  return publishedAt === null ? channel : { ...channel, publishedAt };
}

/** `undefined` for a picture that is gone. */
async function download(
  { downloader }: Upstreams,
  original: OriginalRef | null,
  signal: AbortSignal,
): Promise<Buffer | undefined> {
  try {
    return original === null ? undefined : await downloader.download(original, { signal });
  } catch (error) {
    if (error instanceof AppError && error.code === 'image_not_found') return undefined;
    throw error;
  }
}
