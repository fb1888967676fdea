import { type ImageClass, type ImageStatements, PAGE_BYTES, type RowKind, readSums, spaceOf } from './schema.ts';

export interface Quota {
  readonly maxBytes: number;
  /** The part that is for the log of the database. */
  readonly logBytes: number;
}

/** An image that is to be stored. */
export interface NewImage {
  readonly kind: RowKind;
  readonly size: number;
  readonly isFile: boolean;
}

/** In place of a new image, to evict what a lowered quota has no room for. */
export const NOTHING: NewImage = { kind: 'plain', size: 0, isFile: false };

export interface Usage {
  readonly entries: number;
  /** The pages of the database, and the files. */
  readonly bytes: number;
  /** The part that new rows use first. */
  readonly freeBytes: number;
  /** Originals and variants, without the overhead of the database. */
  readonly plainBytes: number;
  readonly customBytes: number;
}

/** The share of custom sizes in the quota. They are also evicted first. */
const CUSTOM_SHARE = 0.25;
/** A new row may split a page of the table and of each index. */
const PAGES_OF_ROW = 6;
/** The pages of a database without images. */
const EMPTY_PAGES = 20;

export function readUsage(statements: ImageStatements): Usage {
  const { original, plain, custom } = readSums(statements);
  const { pages, free } = statements.pages.get() as { pages: number; free: number };
  return {
    entries: original.images + plain.images + custom.images,
    bytes: pages * PAGE_BYTES + original.inFiles + plain.inFiles + custom.inFiles,
    freeBytes: free * PAGE_BYTES,
    plainBytes: original.space + plain.space,
    customBytes: custom.space,
  };
}

/** True if there is no room even after every eviction. */
export function neverFits({ maxBytes, logBytes }: Quota, image: NewImage): boolean {
  const isTooLarge = logBytes + EMPTY_PAGES * PAGE_BYTES + bytesFor(image) > maxBytes;
  return isTooLarge || (image.kind === 'custom' && bytesFor(image) > maxBytes * CUSTOM_SHARE);
}

/**
 * The class from which an image must be evicted before this one has room; `undefined` if it has room. `none`: it would have to
 * displace a plain image, which a custom one never does.
 */
export function findClassToEvict(
  { maxBytes, logBytes }: Quota,
  { bytes, freeBytes, customBytes }: Usage,
  image: NewImage,
): ImageClass | 'none' | undefined {
  const isCustom = image.kind === 'custom';
  const space = spaceOf(image.size, image.isFile);
  if (customBytes + (isCustom ? space : 0) > maxBytes * CUSTOM_SHARE) return 'custom';
  if (logBytes + bytes - freeBytes + bytesFor(image) <= maxBytes) return undefined;
  if (customBytes > 0) return 'custom';
  return isCustom ? 'none' : 'plain';
}

/** True if the disk would have more than the quota with the file of this image. */
export function exceeds({ maxBytes, logBytes }: Quota, { bytes }: Usage, image: NewImage): boolean {
  return logBytes + bytes + bytesFor(image) > maxBytes;
}

function bytesFor(image: NewImage): number {
  if (image === NOTHING) return 0;
  const inPages = image.isFile ? 0 : Math.ceil(image.size / PAGE_BYTES);
  const inFile = image.isFile ? spaceOf(image.size, true) : 0;
  return inFile + (inPages + PAGES_OF_ROW) * PAGE_BYTES;
}
