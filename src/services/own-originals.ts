import type { CacheOutcome } from '../domain/cache-outcome.ts';
import type { CatalogImage } from '../domain/channel.ts';
import { AppError } from '../domain/errors.ts';
import { ownOriginalKey } from '../image-store/image-keys.ts';
import type { ImageStore } from '../image-store/image-store.ts';
import type { Encoder } from '../images/encoder/encoder.ts';
import type { ImageInfo, OriginalBytes } from '../images/encoder/job.ts';
import { readStatedPixels } from '../images/header.ts';
import type { Clock } from '../lib/clock.ts';
import { NEVER_ABORTED } from '../lib/deadlines.ts';
import { type FailedKeys, KEY_FAILURE_MS } from '../lib/failed-keys.ts';
import { hasErrorCode } from '../lib/file-system.ts';
import { parseJson } from '../lib/shape.ts';
import { createSharedWork } from '../lib/shared-work.ts';
import { currentClient } from '../lib/work.ts';
import { findImageFile, readImageFile } from '../sources/catalog/image-files.ts';
import type { Cached } from '../store/read-through.ts';
import { IMAGE_INFO, type Original } from './cache-policy.ts';

interface OwnOriginalsOptions {
  /** The folder of the catalog's images. */
  readonly directory: string;
  readonly encoder: Pick<Encoder, 'inspect'>;
  /** Where their metadata is stored. */
  readonly images: Pick<ImageStore, 'get' | 'put'>;
  readonly failedImages: FailedKeys;
  readonly clock: Clock;
}

/** The images of the operator's own channels: files of the catalog, named by their content, so that none becomes old. */
interface OwnOriginals {
  /**
   * @throws AppError `image_not_found` if there is no such file, `upstream_unavailable` if it cannot be read, `upstream_invalid` or
   *   `overloaded` if it cannot be decoded
   */
  get(channelId: string, image: CatalogImage): Promise<Cached<Original>>;
  /** The file for an encoder. @throws AppError `image_not_found`, `upstream_unavailable` */
  read(image: CatalogImage): Promise<OriginalBytes>;
  /** @throws AppError `image_not_found`, `upstream_unavailable` */
  readBytes(image: CatalogImage): Promise<Buffer>;
}

const DAY_MS = 86_400_000;
const HIT: CacheOutcome = { kind: 'hit', ttlMs: DAY_MS, isCollapsed: false, isStored: false };

export function createOwnOriginals(options: OwnOriginalsOptions): OwnOriginals {
  const { directory, encoder, images, failedImages, clock } = options;
  const inspecting = createSharedWork<ImageInfo>();

  const requireFile = ({ fileName }: CatalogImage) => required(findImageFile(directory, fileName));
  const readBytes = ({ fileName }: CatalogImage) => required(readImageFile(directory, fileName));

  /** Continues after its callers disconnect: others will request the same image. */
  async function inspect(image: CatalogImage): Promise<ImageInfo> {
    const { key } = image;
    const path = await requireFile(image);
    const statedPixels = readStatedPixels(await readBytes(image));
    const client = currentClient();
    const inspectFile = () => encoder.inspect({ path }, { signal: NEVER_ABORTED, client, statedPixels });
    try {
      return await inspecting.run(key, NEVER_ABORTED, () => failedImages.run(key, inspectFile));
    } catch (error) {
      // An import has just removed it.
      throw hasErrorCode(error, 'ENOENT') ? noSuchImage(error) : error;
    }
  }

  async function find(channelId: string, digest: string, image: CatalogImage): Promise<ImageInfo> {
    const key = ownOriginalKey(channelId, digest);
    const stored = await images.get(key, 'plain');
    const known = stored && parseJson(stored.toString(), IMAGE_INFO);
    if (known !== undefined) return known;
    const info = await inspect(image);
    images.put(key, Buffer.from(JSON.stringify(info)), 'plain');
    return info;
  }

  return {
    async get(channelId, image) {
      const digest = image.fileName.slice(0, image.fileName.lastIndexOf('.'));
      const { width, height, format, hasAlpha } = await find(channelId, digest, image);
      // The clock may have been ahead when the channel was imported.
      const firstStoredAtMs = Math.min(image.importedAtMs, clock.now());
      return { value: { refKey: image.key, digest, firstStoredAtMs, width, height, format, hasAlpha }, outcome: HIT };
    },

    read: async (image) => ({ path: await requireFile(image) }),

    readBytes,
  };
}

/** @throws AppError `image_not_found` if there is no such file, `upstream_unavailable` if it cannot be read */
async function required<T>(reading: Promise<T | undefined>): Promise<T> {
  const found = await reading.catch((cause: unknown) => {
    throw new AppError('upstream_unavailable', 'The image cannot be read at the moment.', {
      cause,
      retryAfterMs: KEY_FAILURE_MS,
    });
  });
  if (found === undefined) throw noSuchImage();
  return found;
}

function noSuchImage(cause?: unknown): AppError {
  return new AppError('image_not_found', 'The catalog names an image that it does not have.', { cause });
}
