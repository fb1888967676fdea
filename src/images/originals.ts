import { webcrypto } from 'node:crypto';
import type { Cache, Cached, Loaded } from '../cache/cache.ts';
import type { Images, StoredOriginal } from '../cache/images.ts';
import { originalKey } from '../cache/keys.ts';
import type { Original } from '../cache/policy.ts';
import { SOFT_TIMEOUT_MS } from '../cache/policy.ts';
import type { ChannelService } from '../channels/channels.ts';
import { type CatalogImage, type Channel, LAST_MODIFIED_STEP_MS, type OriginalRef } from '../domain/channel.ts';
import { AppError, errorCodeOf } from '../domain/errors.ts';
import { channelIdRef } from '../domain/identifier.ts';
import type { ImageKind } from '../domain/variants.ts';
import { NEVER_ABORTED } from '../lib/deadlines.ts';
import { hasErrorCode } from '../lib/file-system.ts';
import type { Runtime } from '../lib/runtime.ts';
import { createSharedWork } from '../lib/shared-work.ts';
import type { Catalog } from '../sources/catalog/catalog.ts';
import type { Downloader } from './download.ts';
import type { Encoder } from './encoder/encoder.ts';

interface OriginalsOptions {
  /** Absent if `SOURCES` does not name it. */
  readonly catalog: Pick<Catalog, 'readImage'> | undefined;
  readonly downloader: Downloader;
  readonly encoder: Pick<Encoder, 'inspect' | 'warmUp'>;
  readonly images: Pick<Images, 'findOriginal' | 'putOriginal' | 'discardOriginal'>;
  readonly cache: Cache<Original>;
  readonly channels: Pick<ChannelService, 'getChannel'>;
  readonly runtime: Pick<Runtime, 'clock'>;
}

interface LoadedOriginal extends Loaded<Original> {
  readonly bytes: Buffer;
}

/** The originals of all variants: read from the catalog or downloaded once for all variants, and fresh for a day. */
export interface Originals {
  /**
   * @throws AppError `image_not_found` when the channel has no such image. Without a stored original: `upstream_…`
   * when it cannot be downloaded, `overloaded` when it cannot be decoded
   */
  get(channel: Channel, kind: ImageKind): Promise<Cached<Original>>;
  /** Returns the file or the bytes for an encoder. Downloads them again if necessary. */
  read(channel: Channel, kind: ImageKind, original: Original): Promise<StoredOriginal>;
  /** Downloads an original again whose file an encoder could not read. */
  readAgain(channel: Channel, kind: ImageKind, original: Original): Promise<Buffer>;
}

export function createOriginals(options: OriginalsOptions): Originals {
  const { catalog, downloader, encoder, images, cache, channels, runtime } = options;
  const { clock } = runtime;
  const downloading = createSharedWork<Buffer>();

  /** A load continues after its callers disconnect: others will request the same image. */
  async function load(channel: Channel, kind: ImageKind, previous: Original | undefined): Promise<LoadedOriginal> {
    // An idle encoder may have ended. Another one starts during the download.
    encoder.warmUp();
    const { channelId } = channel;
    const { ref, bytes } = await fetchNamed(channel, kind);
    try {
      return await examine(channelId, ref, bytes, previous);
    } catch (error) {
      const nextSizes = ref.kind === 'remote' ? ref.urls.slice(1) : [];
      // Too many pixels, or damaged. The next size may be neither.
      if (errorCodeOf(error) !== 'upstream_invalid' || nextSizes.length === 0) throw error;
      return examine(channelId, ref, await fetchBytes({ kind: 'remote', key: ref.key, urls: nextSizes }), previous);
    }
  }

  /** The image that the record names; if it is gone, the one that the reloaded record names. */
  async function fetchNamed(channel: Channel, kind: ImageKind): Promise<{ ref: OriginalRef; bytes: Buffer }> {
    const ref = refOf(channel, kind);
    try {
      return { ref, bytes: await fetchBytes(ref) };
    } catch (error) {
      if (!(error instanceof ImageGone)) throw error;
      const namesOther = (current: Channel) => current[kind]?.key !== ref.key;
      const reloaded = await channels.getChannel([channelIdRef(channel.channelId)], SOFT_TIMEOUT_MS, namesOther);
      if (reloaded.outcome.kind === 'stale') throw unknownImage(error);
      const newer = refOf(reloaded.channel, kind);
      if (newer.key === ref.key) throw error;
      return { ref: newer, bytes: await fetchBytes(newer) };
    }
  }

  async function readOwn(ref: CatalogImage): Promise<Buffer> {
    if (catalog === undefined) throw new AppError('image_not_found', 'There is no catalog.');
    return catalog.readImage(ref);
  }

  /** Concurrent callers share one download. */
  function fetchBytes(ref: OriginalRef): Promise<Buffer> {
    const key = ref.kind === 'remote' ? ref.urls.join(' ') : ref.key;
    return downloading.run(key, NEVER_ABORTED, (signal) =>
      orThrowImageGone(ref.kind === 'remote' ? downloader.download(ref, { signal }) : readOwn(ref)),
    );
  }

  async function examine(
    channelId: string,
    ref: OriginalRef,
    bytes: Buffer,
    previous: Original | undefined,
  ): Promise<LoadedOriginal> {
    const digest = await digestOf(bytes);
    const stored = await images.putOriginal({ channelId, digest }, bytes);
    if (previous?.digest === digest) return { value: { ...previous, refKey: ref.key }, bytes };
    const inspect = (original: StoredOriginal) => encoder.inspect(original, NEVER_ABORTED);
    const { width, height, format, hasAlpha } = await inspect(stored).catch((error: unknown) => {
      // The file was erased or evicted meanwhile, or is damaged.
      if (!hasErrorCode(error, 'ENOENT')) throw error;
      return inspect({ bytes });
    });
    // `If-Modified-Since` must not match other bytes, even if the clock is behind.
    const afterPreviousMs = previous === undefined ? 0 : previous.firstStoredAtMs + LAST_MODIFIED_STEP_MS;
    const firstStoredAtMs = Math.max(clock.now(), afterPreviousMs);
    return { value: { refKey: ref.key, digest, firstStoredAtMs, width, height, format, hasAlpha }, bytes };
  }

  async function downloadAgain(channel: Channel, kind: ImageKind, original: Original): Promise<Buffer> {
    const { value, bytes } = await load(channel, kind, original);
    if (value.digest === original.digest) return bytes;
    await cache.put(originalKey(channel.channelId, kind), async () => ({ value }));
    throw justChanged();
  }

  return {
    async get(channel, kind) {
      const { key } = refOf(channel, kind);
      const found = await cache.get(originalKey(channel.channelId, kind), (previous) => load(channel, kind, previous), {
        softTimeoutMs: SOFT_TIMEOUT_MS,
        // A new key in the record means a new image.
        isCurrent: ({ refKey }) => refKey === key,
        failureKey: key,
      });
      // The stored time may be in the future if clocks differ.
      const firstStoredAtMs = Math.min(found.value.firstStoredAtMs, clock.now());
      return { ...found, value: { ...found.value, firstStoredAtMs } };
    },

    async read(channel, kind, original) {
      const stored = await images.findOriginal({ channelId: channel.channelId, digest: original.digest });
      return stored ?? { bytes: await downloadAgain(channel, kind, original) };
    },

    async readAgain(channel, kind, original) {
      await images.discardOriginal({ channelId: channel.channelId, digest: original.digest });
      return downloadAgain(channel, kind, original);
    },
  };
}

/** The first 32 hex digits of the SHA-256. It is computed outside of the event loop. */
async function digestOf(bytes: Buffer): Promise<string> {
  const digest = await webcrypto.subtle.digest('SHA-256', bytes);
  return Buffer.from(digest).toString('hex').slice(0, 32);
}

function unknownImage(cause: AppError): AppError {
  const message = 'The image is gone, and the channel’s record cannot be loaded at the moment.';
  return new AppError('upstream_unavailable', message, { cause, scope: 'key' });
}

function justChanged(): AppError {
  return new AppError('upstream_unavailable', 'The image has just changed. Try again.', { retryAfterMs: 1_000 });
}

function refOf(channel: Channel, kind: ImageKind): OriginalRef {
  const ref = channel[kind];
  if (ref !== null) return ref;
  throw new AppError('image_not_found', `This channel has no ${kind}.`);
}

/** @throws ImageGone instead of an `image_not_found` */
async function orThrowImageGone<T>(image: Promise<T>): Promise<T> {
  try {
    return await image;
  } catch (error) {
    throw errorCodeOf(error) === 'image_not_found' ? new ImageGone(error) : error;
  }
}

/** The image's host, or the catalog, does not have it. */
class ImageGone extends AppError {
  constructor(cause: unknown) {
    super('upstream_invalid', 'The image that the channel names is gone.', { cause });
  }
}
