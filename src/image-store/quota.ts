import { type ImageStatements, PAGE_BYTES, type RowKind, spaceOf } from './schema.ts';

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
export const NOTHING: NewImage = { kind: 'encoded', size: 0, isFile: false };

export interface Usage {
  readonly entries: number;
  /** The pages of the database, and the files. */
  readonly bytes: number;
  /** The part that new rows use first. */
  readonly freeBytes: number;
}

/** A new row may split a page of the table and of each index. */
const PAGES_OF_ROW = 6;
/** The pages of a database without images. */
const EMPTY_PAGES = 20;

export function readUsage(statements: ImageStatements): Usage {
  const { images, inFiles } = statements.sums.get() as { images: number; inFiles: number };
  const { pages, free } = statements.pages.get() as { pages: number; free: number };
  return {
    entries: images,
    bytes: pages * PAGE_BYTES + inFiles,
    freeBytes: free * PAGE_BYTES,
  };
}

/** True if there is no room even after every eviction. */
export function neverFits({ maxBytes, logBytes }: Quota, image: NewImage): boolean {
  return logBytes + EMPTY_PAGES * PAGE_BYTES + bytesFor(image) > maxBytes;
}

/** True if there is room without another eviction. */
export function hasRoomFor({ maxBytes, logBytes }: Quota, { bytes, freeBytes }: Usage, image: NewImage): boolean {
  return logBytes + bytes - freeBytes + bytesFor(image) <= maxBytes;
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
