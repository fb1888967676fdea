import { open, realpath, stat } from 'node:fs/promises';
import { join, sep } from 'node:path';
import type { CatalogImage } from '../../domain/channel.ts';
import { AppError } from '../../domain/errors.ts';
import { hasErrorCode, isSystemError } from '../../lib/file-system.ts';

const MAX_IMAGE_BYTES = 16 * 1024 * 1024;

/** The folder of the images in a catalog's folder. */
export function imagesDirOf(folder: string): string {
  return join(folder, 'images');
}

/** An image with a key that changes with its file: with the size or the time of the last change. */
export async function findImage(folder: string, fileName: string | null): Promise<CatalogImage | null> {
  if (fileName === null) return null;
  const path = join(imagesDirOf(folder), fileName);
  const state = await stat(path).then(
    ({ size, mtimeMs, ino }) => `${ino}:${size}:${mtimeMs}`,
    () => 'unreadable',
  );
  return { kind: 'catalog-file', key: `catalog:${path}:${state}`, fileName };
}

/**
 * Reads an image.
 *
 * @throws AppError `image_not_found` if there is no such file, or it is outside of the folder, no regular file or too large;
 *   `upstream_unavailable` if it cannot be read
 */
export async function readImage(folder: string, { fileName }: CatalogImage): Promise<Buffer> {
  try {
    const images = imagesDirOf(folder);
    const path = await realpath(join(images, fileName));
    if (!path.startsWith((await realpath(folder)) + sep)) throw noSuchImage(`${fileName} leads out of the folder`);
    // Reading another kind of file, such as a pipe, may never end.
    if (!(await stat(path)).isFile()) throw noSuchImage(`${fileName} is no regular file`);
    await using file = await open(path);
    const { size } = await file.stat();
    if (size > MAX_IMAGE_BYTES) throw noSuchImage(`${fileName} has more than ${MAX_IMAGE_BYTES} bytes`);
    return await file.readFile();
  } catch (error) {
    if (!isSystemError(error)) throw error;
    if (hasErrorCode(error, 'ENOENT', 'ENOTDIR')) throw noSuchImage(`there is no ${fileName}`);
    throw new AppError('upstream_unavailable', 'The image cannot be read at the moment.', { cause: error });
  }
}

function noSuchImage(reason: string): AppError {
  return new AppError('image_not_found', 'The catalog names an image that it does not have.', {
    cause: new Error(reason),
  });
}
