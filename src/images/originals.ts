import type { Cache, Cached, Loaded } from '../cache/cache.ts';
import type { ImageId, ImageStore } from '../cache/image-store.ts';
import { digestOf, originalKey } from '../cache/keys.ts';
import type { OriginalInfo } from '../cache/values.ts';
import type { OriginalRef } from '../domain/channel.ts';
import { AppError, errorCodeOf } from '../domain/errors.ts';
import type { ImageKind } from '../domain/variants.ts';
import { NEVER_ABORTED } from '../lib/deadlines.ts';
import { addBoundGauges } from '../lib/metrics.ts';
import { currentClient } from '../lib/request-scope.ts';
import { createRoundRobin } from '../lib/round-robin.ts';
import type { Runtime } from '../lib/runtime.ts';
import { createSingleFlight } from '../lib/single-flight.ts';
import type { Catalog } from '../sources/catalog/catalog.ts';
import type { Downloader } from './download.ts';
import type { Encoder } from './encoder/encoder.ts';

/** An original waits for the loads of others. */
export const LOAD_WAIT_MS = 8_000;
const LOADS_AT_ONCE = 6;
const MAX_WAITING_LOADS = 64;

interface OriginalsOptions {
  /** Absent if `SOURCES` does not name it. */
  readonly catalog: Pick<Catalog, 'readImage'> | undefined;
  readonly downloader: Downloader;
  readonly encoder: Pick<Encoder, 'inspect' | 'warmUp'>;
  readonly images: Pick<ImageStore, 'get' | 'put'>;
  readonly cache: Cache<OriginalInfo>;
  readonly runtime: Pick<Runtime, 'clock' | 'metrics'>;
}

/** An original that is stored, or was when it was found. */
export interface Original extends Cached<OriginalInfo> {
  readonly channelId: string;
  /**
   * Returns its bytes. Loads them again if they are not stored.
   *
   * @throws AppError `upstream_…` if they cannot be loaded or have changed. The next `get` then loads the original anew. If that
   * has failed already, its failure is thrown
   */
  read(): Promise<Buffer>;
}

export type Originals = ReturnType<typeof createOriginals>;

/**
 * The originals of all variants: read from the catalog or downloaded once for all variants, and fresh for a day.
 *
 * The digest of an original is in the ETag of each image that is made from it. So an original whose bytes are no longer stored is
 * loaded again, and is another one if its digest differs.
 */
export function createOriginals(options: OriginalsOptions) {
  const { catalog, downloader, encoder, images, cache } = options;
  const { clock, metrics } = options.runtime;
  const loadingBytes = createSingleFlight<{ bytes: Buffer; digest: string }>();

  const loads = createRoundRobin({
    places: Array.from({ length: LOADS_AT_ONCE }, (_, place) => place),
    maxWaitMs: LOAD_WAIT_MS,
    clock,
    refusal: () =>
      new AppError('overloaded', 'Too many images are being loaded at the moment.', { retryAfterMs: 5_000 }),
  });
  addBoundGauges(metrics, 'pennant_waiting_originals', 'originals that wait to be loaded', () => ({
    entries: loads.waiting(),
    maxEntries: MAX_WAITING_LOADS,
  }));

  /** @throws AppError `image_not_found` if the image is gone */
  async function fetchBytes(ref: OriginalRef): Promise<Buffer> {
    if (ref.kind === 'remote') return downloader.download(ref);
    if (catalog === undefined) throw new AppError('image_not_found', 'There is no catalog.');
    return catalog.readImage(ref);
  }

  /** Loads an original and stores it, once for concurrent callers. An own image is not stored. @throws ImageGone */
  function loadBytes(channelId: string, ref: OriginalRef) {
    const place = ref.kind === 'remote' ? ref.urls.join(' ') : ref.key;
    return loadingBytes.run(`${channelId} ${place}`, NEVER_ABORTED, async () => {
      const bytes = await fetchBytes(ref).catch((error) => {
        throw errorCodeOf(error) === 'image_not_found' ? new ImageGone(error) : error;
      });
      const digest = await digestOf(bytes);
      if (ref.kind === 'remote') images.put(idOf(channelId, digest), bytes);
      return { bytes, digest };
    });
  }

  /** Returns the digest only: what waits for an encoder holds no bytes. */
  async function loadDigest(channelId: string, ref: OriginalRef): Promise<string> {
    return (await loadBytes(channelId, ref)).digest;
  }

  /** @throws AppError also if the original is another one by now */
  async function readBytes(channelId: string, ref: OriginalRef, digest: string): Promise<Buffer> {
    const stored = await images.get(idOf(channelId, digest));
    if (stored !== undefined) return stored;
    for (const size of [ref, ...nextSizesOf(ref)]) {
      const loaded = await loadBytes(channelId, size);
      if (loaded.digest === digest) return loaded.bytes;
    }
    throw new OriginalChanged();
  }

  async function inspect(
    channelId: string,
    ref: OriginalRef,
    digest: string,
    previous: OriginalInfo | undefined,
  ): Promise<OriginalInfo> {
    if (previous?.digest === digest) return previous;
    const info = await encoder.inspect(() => readBytes(channelId, ref, digest));
    return { ...info, digest, firstStoredAtMs: clock.now() };
  }

  /** A load continues after its callers disconnect: others will request the same image. */
  async function load(channelId: string, ref: OriginalRef, previous: OriginalInfo | undefined): Promise<OriginalInfo> {
    // An idle encoder may have ended. Another one starts during the download.
    encoder.warmUp();
    const digest = await loadDigest(channelId, ref);
    try {
      return await inspect(channelId, ref, digest, previous);
    } catch (error) {
      const [nextSize] = nextSizesOf(ref);
      // Too many pixels, or damaged. The next size may be neither.
      if (errorCodeOf(error) !== 'upstream_invalid' || nextSize === undefined) throw error;
      return inspect(channelId, nextSize, await loadDigest(channelId, nextSize), previous);
    }
  }

  return {
    /**
     * @param ref from the channel's record
     * @throws AppError without a stored original: `ImageGone` when the image is no longer where the record says, `upstream_…` when
     * it cannot be loaded or decoded, `overloaded` when too many wait to be loaded or decoded
     */
    async get(channelId: string, kind: ImageKind, ref: OriginalRef): Promise<Original> {
      const key = originalKey(channelId, kind);
      // A new key in the record means a new image.
      const { key: version } = ref;
      async function loadInTurn(previous: OriginalInfo | undefined): Promise<Loaded<OriginalInfo>> {
        const turn = { client: currentClient(), signal: NEVER_ABORTED, maxWaiting: MAX_WAITING_LOADS };
        return { value: await loads.run(turn, () => load(channelId, ref, previous)), version };
      }
      const found = await cache.get(key, loadInTurn, { version });

      async function read(): Promise<Buffer> {
        try {
          return await readBytes(channelId, ref, found.value.digest);
        } catch (error) {
          if (!(error instanceof OriginalChanged || error instanceof ImageGone)) throw error;
          await cache.expire(key, found.storedAtMs);
          throw found.failure ?? new OriginalChanged();
        }
      }

      return { ...found, channelId, read };
    },
  };
}

function idOf(channelId: string, digest: string): ImageId {
  return { key: `original/${channelId}/${digest}`, isOriginal: true };
}

class OriginalChanged extends AppError {
  constructor() {
    super('upstream_unavailable', 'The image has just changed. Try again.', { retryAfterMs: 1_000 });
  }
}

/** What is tried once if the image's first size is unusable. */
function nextSizesOf(ref: OriginalRef): readonly OriginalRef[] {
  return ref.kind === 'remote' && ref.urls.length > 1 ? [{ ...ref, urls: ref.urls.slice(1) }] : [];
}

/** How long the image is not tried again. */
const GONE_RETRY_MS = 15_000;

/** The image's host, or the catalog, does not have it. Thrown only by the load that has found this out. */
export class ImageGone extends AppError {
  constructor(cause: unknown) {
    super('upstream_invalid', 'The image that the channel names is gone.', { cause, retryAfterMs: GONE_RETRY_MS });
  }
}
