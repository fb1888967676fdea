import { constants } from 'node:fs';
import { open, readdir, realpath, stat } from 'node:fs/promises';
import { join, sep } from 'node:path';
import type { CatalogImage } from '../../domain/channel.ts';
import { AppError } from '../../domain/errors.ts';
import { hasErrorCode, isSystemError } from '../../lib/file-system.ts';

export const MIB = 1024 * 1024;
const MAX_IMAGE_MIB = 16;

/** Without `O_NONBLOCK`, opening a named pipe waits for a program that writes to it. */
const HOW_TO_OPEN = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW;

/** A file that exists and is not read. The message completes a sentence that begins with its name. */
export class FileRefusedError extends Error {}

/**
 * Reads a file of a catalog's folder: a regular file, which no link leads out of the folder.
 *
 * @throws FileRefusedError for any other file, and for a larger one
 */
export async function readFileIn(folder: string, path: string, maxMib: number): Promise<Buffer> {
  await using file = await open(await realPathIn(folder, path), HOW_TO_OPEN);
  const stats = await file.stat();
  if (!stats.isFile()) throw new FileRefusedError('is not a regular file');
  if (stats.size > maxMib * MIB) throw new FileRefusedError(`has more than ${maxMib} MiB`);
  return await file.readFile();
}

/** @throws FileRefusedError if a link leads out of the folder */
async function realPathIn(folder: string, path: string): Promise<string> {
  const real = await realpath(path);
  if (real.startsWith((await realpath(folder)) + sep)) return real;
  throw new FileRefusedError('leads out of the folder');
}

/** A text that changes with a file or folder, also if its size and its time of modification stay. */
export async function stateOf(path: string): Promise<string> {
  try {
    const { ino, size, mtimeMs, ctimeMs } = await stat(path);
    return `${ino}:${size}:${mtimeMs}:${ctimeMs}`;
  } catch (error) {
    if (isSystemError(error)) return error.message;
    throw error;
  }
}

/** The folder of the images in a catalog's folder. */
export function imagesDirOf(folder: string): string {
  return join(folder, 'images');
}

/**
 * The names of the images: of regular files, and of links to such files in the catalog's folder.
 *
 * @throws FileRefusedError or a system error if the folder of the images is there and cannot be read
 */
export async function listImages(folder: string): Promise<readonly string[]> {
  const path = imagesDirOf(folder);
  try {
    await realPathIn(folder, path);
    const entries = await readdir(path, { withFileTypes: true });
    const areFiles = entries.map((entry) => entry.isFile() || isFileIn(folder, join(path, entry.name)));
    const isListed = await Promise.all(areFiles);
    return entries.map(({ name }) => name).filter((_, at) => isListed[at]);
  } catch (error) {
    if (hasErrorCode(error, 'ENOENT')) return [];
    throw error;
  }
}

async function isFileIn(folder: string, path: string): Promise<boolean> {
  try {
    return (await stat(await realPathIn(folder, path))).isFile();
  } catch (error) {
    if (error instanceof FileRefusedError || isSystemError(error)) return false;
    throw error;
  }
}

/** An image with a key that changes with its file. */
export async function findImage(folder: string, fileName: string | null): Promise<CatalogImage | null> {
  if (fileName === null) return null;
  const path = join(imagesDirOf(folder), fileName);
  return { kind: 'catalog-file', key: `catalog:${path}:${await stateOf(path)}`, fileName };
}

/**
 * Reads an image.
 *
 * @throws AppError `image_not_found` if there is no such file or it is refused; `upstream_unavailable` if it cannot be read
 */
export async function readImage(folder: string, { fileName }: CatalogImage): Promise<Buffer> {
  try {
    return await readFileIn(folder, join(imagesDirOf(folder), fileName), MAX_IMAGE_MIB);
  } catch (error) {
    if (error instanceof FileRefusedError) throw noSuchImage(`${fileName} ${error.message}`);
    if (!isSystemError(error)) throw error;
    if (hasErrorCode(error, 'ENOENT', 'ENOTDIR')) throw noSuchImage(`there is no ${fileName}`);
    throw new AppError('upstream_unavailable', 'The file of the image cannot be read at the moment.', { cause: error });
  }
}

function noSuchImage(reason: string): AppError {
  return new AppError('image_not_found', 'The catalog names an image that it does not have.', {
    cause: new Error(reason),
  });
}
