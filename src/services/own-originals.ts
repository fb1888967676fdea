import { LRUCache } from 'lru-cache';
import type { CatalogImage } from '../domain/channel.ts';
import { AppError, type CacheOutcome } from '../domain/errors.ts';
import type { Encoder } from '../images/encoder/encoder.ts';
import type { ImageInfo, OriginalBytes } from '../images/encoder/job.ts';
import { readStatedPixels } from '../images/header.ts';
import type { FailedKeys } from '../lib/failed-keys.ts';
import { hasErrorCode } from '../lib/file-system.ts';
import type { Runtime } from '../lib/runtime.ts';
import { createSharedWork, currentClient, NEVER_ABORTED } from '../lib/work.ts';
import { findImageFile, readImageFile } from '../sources/catalog/image-files.ts';
import type { Cached } from '../store/read-through.ts';
import type { Original } from './cache-policy.ts';

interface OwnOriginalsOptions {
  /** The folder of the catalog's images. */
  readonly directory: string;
  readonly encoder: Pick<Encoder, 'inspect'>;
  readonly failedImages: FailedKeys;
  readonly runtime: Pick<Runtime, 'clock' | 'holders'>;
}

/** The images of the operator's own channels: files of the catalog, named by their content, so that none becomes old. */
interface OwnOriginals {
  /** @throws AppError `image_not_found` if there is no such file, `upstream_invalid` or `overloaded` if it cannot be decoded */
  get(image: CatalogImage): Promise<Cached<Original>>;
  /** The file for an encoder. @throws AppError `image_not_found` */
  read(image: CatalogImage): Promise<OriginalBytes>;
  /** @throws AppError `image_not_found` */
  readBytes(image: CatalogImage): Promise<Buffer>;
}

/** About 4 MiB. An image that is not among them is inspected again. */
const MAX_KNOWN = 10_000;
const DAY_MS = 86_400_000;
const HIT: CacheOutcome = { kind: 'hit', ttlMs: DAY_MS, isCollapsed: false, isStored: false };

export function createOwnOriginals(options: OwnOriginalsOptions): OwnOriginals {
  const { directory, encoder, failedImages } = options;
  const { clock, holders } = options.runtime;
  const known = new LRUCache<string, ImageInfo>({ max: MAX_KNOWN });
  const inspecting = createSharedWork<ImageInfo>();
  holders.add('own images', () => ({ entries: known.size, maxEntries: MAX_KNOWN }));

  async function requireFile({ fileName }: CatalogImage): Promise<string> {
    const path = await findImageFile(directory, fileName);
    if (path === undefined) throw noSuchImage();
    return path;
  }

  async function readBytes({ fileName }: CatalogImage): Promise<Buffer> {
    const bytes = await readImageFile(directory, fileName);
    if (bytes === undefined) throw noSuchImage();
    return bytes;
  }

  /** Continues after its callers disconnect: others will request the same image. */
  async function inspect(image: CatalogImage): Promise<ImageInfo> {
    const { key } = image;
    const path = await requireFile(image);
    const statedPixels = readStatedPixels(await readBytes(image));
    const client = currentClient();
    const inspectFile = () => encoder.inspect({ path }, { signal: NEVER_ABORTED, client, statedPixels });
    try {
      const info = await inspecting.run(key, NEVER_ABORTED, () => failedImages.run(key, inspectFile));
      known.set(key, info);
      return info;
    } catch (error) {
      // An import has just removed it.
      throw hasErrorCode(error, 'ENOENT') ? noSuchImage(error) : error;
    }
  }

  return {
    async get(image) {
      const { width, height, format, hasAlpha } = known.get(image.key) ?? (await inspect(image));
      const digest = image.fileName.slice(0, image.fileName.lastIndexOf('.'));
      // The clock may have been ahead when the channel was imported.
      const firstStoredAtMs = Math.min(image.importedAtMs, clock.now());
      return { value: { refKey: image.key, digest, firstStoredAtMs, width, height, format, hasAlpha }, outcome: HIT };
    },

    read: async (image) => ({ path: await requireFile(image) }),

    readBytes,
  };
}

function noSuchImage(cause?: unknown): AppError {
  return new AppError('image_not_found', 'The catalog names an image that it does not have.', { cause });
}
