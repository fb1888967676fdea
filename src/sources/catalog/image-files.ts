import { createHash, randomBytes } from 'node:crypto';
import { readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { FORMATS, formatRow, type SourceFormat, sniffFormat } from '../../domain/formats.ts';
import { hasErrorCode, isSystemError, makeDirectory } from '../../lib/file-system.ts';
import { RecordRefusedError } from './record.ts';

export const MAX_IMAGE_BYTES = 16 * 1024 * 1024;
/** 128 bits of SHA-256, which is enough against collisions. */
const DIGEST_HEX_CHARACTERS = 32;
const FILE_NAME = /^[0-9a-f]{32}\.([a-z]{3,4})$/;
const EXTENSIONS: readonly string[] = [...FORMATS.map((format) => formatRow(format).extension), 'gif'];
/** The end of a file's name until the file is complete. */
const TEMPORARY_SUFFIX = /\.[0-9a-f]{8}\.tmp$/;

/** True for the names that `placeImage` gives to files. */
export function isImageName(fileName: string): boolean {
  const [, extension = ''] = FILE_NAME.exec(fileName) ?? [];
  return EXTENSIONS.includes(extension);
}

/**
 * Copies an image into the catalog's folder and returns its name, which is the digest of its bytes. An existing image
 * is written again only if it is damaged.
 *
 * @param imagesDir `null`: the image is checked, not copied
 * @throws RecordRefusedError that names `field` if there is no such file, or it is too large or not an image
 */
export function placeImage(field: string, fileName: string, fromDir: string, imagesDir: string | null): string {
  const { bytes, format } = readGivenImage(field, fileName, fromDir);
  const digest = createHash('sha256').update(bytes).digest('hex').slice(0, DIGEST_HEX_CHARACTERS);
  const name = `${digest}.${format === 'gif' ? 'gif' : formatRow(format).extension}`;
  if (imagesDir === null) return name;
  const target = join(imagesDir, name);
  if (!hasContent(target, bytes)) {
    makeDirectory(imagesDir);
    // Written to a temporary file and renamed, so that no reader or crash sees an incomplete image.
    const temporary = `${target}.${randomBytes(4).toString('hex')}.tmp`;
    try {
      writeFileSync(temporary, bytes, { flush: true });
      renameSync(temporary, target);
    } catch (error) {
      rmSync(temporary, { force: true });
      throw error;
    }
  }
  return name;
}

function hasContent(path: string, bytes: Buffer): boolean {
  const size = statSync(path, { throwIfNoEntry: false })?.size;
  return size === bytes.length && readFileSync(path).equals(bytes);
}

/**
 * Checks that the file of an image can be decoded, which takes longer than reading it.
 *
 * @param isWhole whether the file at a path can be decoded to its end
 * @throws RecordRefusedError that names `field` if it cannot, and those of `placeImage`
 */
export async function requireWholeImage(
  field: string,
  fileName: string,
  { fromDir, isWhole }: { readonly fromDir: string; readonly isWhole: (path: string) => Promise<boolean> },
): Promise<void> {
  readGivenImage(field, fileName, fromDir);
  if (await isWhole(join(fromDir, fileName))) return;
  throw new RecordRefusedError(field, `${fileName} is damaged or incomplete`);
}

/** A record names an image that is not in the folder. */
export class MissingImageError extends RecordRefusedError {}

function readGivenImage(field: string, fileName: string, fromDir: string): { bytes: Buffer; format: SourceFormat } {
  const bytes = readGivenFile(field, fileName, fromDir);
  const format = sniffFormat(bytes);
  if (format !== undefined) return { bytes, format };
  throw new RecordRefusedError(field, `${fileName} is not a JPEG, PNG, WebP, AVIF or GIF image`);
}

function readGivenFile(field: string, fileName: string, fromDir: string): Buffer {
  const path = join(fromDir, fileName);
  try {
    const stats = statSync(path);
    // Reading another kind of file, such as a pipe, may never end.
    if (!stats.isFile()) throw new RecordRefusedError(field, `${path} is not a file`);
    if (stats.size <= MAX_IMAGE_BYTES) return readFileSync(path);
    throw new RecordRefusedError(field, `${path} has ${stats.size} bytes, at most ${MAX_IMAGE_BYTES} are allowed`);
  } catch (error) {
    if (!isSystemError(error)) throw error;
    if (hasErrorCode(error, 'ENOENT')) throw new MissingImageError(field, `there is no image ${path}`);
    throw new RecordRefusedError(field, `the image cannot be read: ${error.message}`);
  }
}

/**
 * Removes the images that no record names. The caller holds the write lock of the catalog. All images are written under
 * this lock together with their records, so images of other imports are safe.
 */
export function removeUnreferencedImages(imagesDir: string, isReferenced: (fileName: string) => boolean): void {
  if (statSync(imagesDir, { throwIfNoEntry: false }) === undefined) return;
  for (const name of readdirSync(imagesDir)) {
    const isOwn = isImageName(name.replace(TEMPORARY_SUFFIX, ''));
    if (isOwn && !isReferenced(name)) rmSync(join(imagesDir, name), { force: true });
  }
}

/**
 * The path of an image in the catalog's folder; `undefined` if there is no such file, or something else in its place. The
 * import accepts only proper names and sizes, but anything may have written the database and the folder.
 */
export async function findImageFile(directory: string, fileName: string): Promise<string | undefined> {
  if (!isImageName(fileName)) return undefined;
  const path = join(directory, fileName);
  return undefinedIfMissing(async () => {
    const stats = await stat(path);
    // Reading another kind of file, such as a pipe, may never end.
    return stats.isFile() && stats.size <= MAX_IMAGE_BYTES ? path : undefined;
  });
}

/** The bytes of such an image. */
export async function readImageFile(directory: string, fileName: string): Promise<Buffer | undefined> {
  const path = await findImageFile(directory, fileName);
  return path === undefined ? undefined : undefinedIfMissing(() => readFile(path));
}

async function undefinedIfMissing<T>(read: () => Promise<T | undefined>): Promise<T | undefined> {
  try {
    return await read();
  } catch (error) {
    if (hasErrorCode(error, 'ENOENT', 'EISDIR', 'ENOTDIR')) return undefined;
    throw error;
  }
}
