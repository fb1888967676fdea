import type { Config } from '../config/settings.ts';
import type { Channel, OriginalRef } from '../domain/channel.ts';
import { AppError, errorCodeOf } from '../domain/errors.ts';
import type { Identifier } from '../domain/identifier.ts';
import { IMAGE_KINDS, type ImageKind } from '../domain/variants.ts';
import type { Downloader } from '../images/download.ts';
import { systemClock } from '../lib/clock.ts';
import { NEVER_ABORTED } from '../lib/deadlines.ts';
import { createLogger } from '../lib/logger.ts';
import { createRuntime } from '../lib/runtime.ts';
import { loadFirst } from '../sources/source.ts';
import { createUpstreams } from './upstreams.ts';

/** A channel and its images, for the catalog. */
export interface ChannelCopy {
  /** The identifier that led to the channel. */
  readonly identifier: Identifier;
  readonly channel: Channel;
  /** The fields that no source returned because a call failed, and the images that are gone. */
  readonly missing: readonly string[];
  /** `undefined` for an image that the channel lacks or that is gone. */
  readonly images: Readonly<Record<ImageKind, Buffer | undefined>>;
}

/**
 * Loads a channel and its images from the sources in `SOURCES`, without the catalog. Reads and writes no cache.
 *
 * @param identifiers the first identifier that leads to a channel is used
 * @throws AppError `channel_not_found`; `upstream_unavailable`, `upstream_timeout` or `upstream_invalid` if a source or
 *   an image host failed
 */
export async function copyChannel(
  config: Config,
  identifiers: readonly Identifier[],
  version: string,
): Promise<ChannelCopy> {
  const { sources, allSources, downloader, close } = createUpstreams({
    config,
    runtime: createRuntime({ clock: systemClock, logger: createLogger('silent') }),
    version,
  });
  try {
    if (sources.length === 0) {
      throw new AppError('channel_not_found', 'SOURCES names no source that channels could be loaded from.');
    }
    const { identifier, loaded } = await loadFirst(allSources, identifiers, { signal: NEVER_ABORTED });
    const { channel } = loaded;
    const images = {
      banner: await download(downloader, channel.banner),
      avatar: await download(downloader, channel.avatar),
    };
    const gone = IMAGE_KINDS.filter((kind) => channel[kind] !== null && images[kind] === undefined);
    return { identifier, channel, missing: [...loaded.missing, ...gone], images };
  } finally {
    await close();
  }
}

/** `undefined` for an image that is gone. */
async function download(downloader: Downloader, original: OriginalRef | null) {
  try {
    return original?.kind !== 'remote' ? undefined : await downloader.download(original);
  } catch (error) {
    if (errorCodeOf(error) === 'image_not_found') return undefined;
    throw error;
  }
}
