import type { Cache, Cached, Loaded } from '../cache/cache.ts';
import type { ImageId, ImageStore } from '../cache/image-store.ts';
import { digestOf, originalKey } from '../cache/keys.ts';
import { type OriginalInfo, SOFT_TIMEOUT_MS } from '../cache/values.ts';
import type { CatalogImage, Channel, OriginalRef } from '../domain/channel.ts';
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

/** The originals of all variants: read from the catalog or downloaded once for all variants, and fresh for a day. */
export interface Originals {
  /**
   * @throws AppError `image_not_found` when the channel has no such image. Without a stored original: `ImageGone` when the
   * image is no longer where the record says, `upstream_…` when it cannot be downloaded, `overloaded` when it cannot be decoded
   */
  get(channel: Channel, kind: ImageKind): Promise<Cached<OriginalInfo>>;
  /**
   * Returns the bytes of an original that `get` has found. Loads them again if they are not stored.
   *
   * @throws AppError `upstream_…` if they cannot be loaded or have changed. The next `get` then loads the original anew. If that
   * has failed already, its failure is thrown
   */
  read(channel: Channel, kind: ImageKind, found: Cached<OriginalInfo>): Promise<Buffer>;
}

export function createOriginals(options: OriginalsOptions): Originals {
  const { catalog, downloader, encoder, images, cache, runtime } = options;
  const { clock, metrics } = runtime;
  const downloading = createSingleFlight<Buffer>();

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

  /** A load continues after its callers disconnect: others will request the same image. */
  async function load(
    channel: Channel,
    kind: ImageKind,
    previous: OriginalInfo | undefined,
  ): Promise<Loaded<OriginalInfo>> {
    // An idle encoder may have ended. Another one starts during the download.
    encoder.warmUp();
    const { channelId } = channel;
    const ref = refOf(channel, kind);
    const digest = await store(channelId, ref);
    try {
      return await inspect(channelId, ref, digest, previous);
    } catch (error) {
      const [nextSize] = nextSizesOf(ref);
      // Too many pixels, or damaged. The next size may be neither.
      if (errorCodeOf(error) !== 'upstream_invalid' || nextSize === undefined) throw error;
      return inspect(channelId, nextSize, await store(channelId, nextSize), previous);
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

  /**
   * The original with this digest; `undefined` if the record names another one by now. The digest is in the image's ETag, with
   * which other bytes must not go out.
   */
  async function fetchSame(ref: OriginalRef, digest: string): Promise<Buffer | undefined> {
    try {
      for (const size of [ref, ...nextSizesOf(ref)]) {
        const bytes = await fetchBytes(size);
        if ((await digestOf(bytes)) === digest) return bytes;
      }
    } catch (error) {
      if (!(error instanceof ImageGone)) throw error;
    }
    return undefined;
  }

  /** Loads and stores an original. Returns its digest only: what waits for an encoder holds no bytes. */
  async function store(channelId: string, ref: OriginalRef): Promise<string> {
    const bytes = await fetchBytes(ref);
    const digest = await digestOf(bytes);
    if (ref.kind === 'remote') images.put(idOf(channelId, digest), bytes);
    return digest;
  }

  /** The original with this digest, which is loaded again if it is not stored. @throws AppError also if it has changed */
  async function readSame(channelId: string, ref: OriginalRef, digest: string): Promise<Buffer> {
    const id = idOf(channelId, digest);
    const stored = ref.kind === 'remote' ? await images.get(id) : undefined;
    if (stored !== undefined) return stored;
    const bytes = await fetchSame(ref, digest);
    if (bytes === undefined) throw new OriginalChanged();
    if (ref.kind === 'remote') images.put(id, bytes);
    return bytes;
  }

  async function inspect(
    channelId: string,
    ref: OriginalRef,
    digest: string,
    previous: OriginalInfo | undefined,
  ): Promise<Loaded<OriginalInfo>> {
    if (previous?.digest === digest) return { value: previous, version: ref.key };
    const { width, height, format, hasTransparency } = await encoder.inspect(
      () => readSame(channelId, ref, digest),
      NEVER_ABORTED,
    );
    return {
      value: { digest, firstStoredAtMs: clock.now(), width, height, format, hasTransparency },
      version: ref.key,
    };
  }

  /** Makes the metadata stale, unless they are others meanwhile: no record names this version. */
  async function makeStale(key: string, storedAtMs: number): Promise<void> {
    const current = await cache.getCached(key);
    if (current?.storedAtMs === storedAtMs) cache.put(key, { value: current.value, version: '' });
  }

  return {
    async get(channel, kind) {
      // A new key in the record means a new image.
      const { key: version } = refOf(channel, kind);
      const loadInTurn = (previous: OriginalInfo | undefined) => {
        const turn = { client: currentClient(), signal: NEVER_ABORTED, maxWaiting: MAX_WAITING_LOADS };
        return loads.run(turn, () => load(channel, kind, previous));
      };
      const lookup = { softTimeoutMs: SOFT_TIMEOUT_MS, version };
      return cache.get(originalKey(channel.channelId, kind), loadInTurn, lookup);
    },

    async read(channel, kind, { value: { digest }, storedAtMs, outcome, failure }) {
      const { channelId } = channel;
      try {
        return await readSame(channelId, refOf(channel, kind), digest);
      } catch (error) {
        if (!(error instanceof OriginalChanged)) throw error;
        // A stale one is loaded anew without this, and would last for another week.
        if (outcome.kind !== 'stale') await makeStale(originalKey(channelId, kind), storedAtMs);
        throw failure ?? error;
      }
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

function refOf(channel: Channel, kind: ImageKind): OriginalRef {
  const ref = channel[kind];
  if (ref !== null) return ref;
  throw new AppError('image_not_found', `This channel has no ${kind}.`);
}

/** What is tried once if the image's first size is unusable. */
function nextSizesOf(ref: OriginalRef): readonly OriginalRef[] {
  return ref.kind === 'remote' && ref.urls.length > 1 ? [{ ...ref, urls: ref.urls.slice(1) }] : [];
}

/** @throws ImageGone instead of an `image_not_found` */
async function orThrowImageGone<T>(image: Promise<T>): Promise<T> {
  try {
    return await image;
  } catch (error) {
    throw errorCodeOf(error) === 'image_not_found' ? new ImageGone(error) : error;
  }
}

/** How long the image is not tried again. */
const GONE_RETRY_MS = 15_000;

/** The image's host, or the catalog, does not have it. Thrown only by the load that has found this out. */
export class ImageGone extends AppError {
  constructor(cause: unknown) {
    super('upstream_invalid', 'The image that the channel names is gone.', { cause, retryAfterMs: GONE_RETRY_MS });
  }
}
