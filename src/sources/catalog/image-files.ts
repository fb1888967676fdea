import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { hasErrorCode } from '../../lib/file-system.ts';
import { isImageName, MAX_IMAGE_BYTES } from './image-placement.ts';

/**
 * The path of an image in the catalog's folder; `undefined` if there is no such file, or something else in its place. The
 * import accepts only proper names and sizes, but anything may have written the database and the folder.
 */
export async function findImageFile(directory: string, fileName: string): Promise<string | undefined> {
  if (!isImageName(fileName)) return undefined;
  const path = join(directory, fileName);
  return orNothing(async () => {
    const stats = await stat(path);
    // Reading another kind of file, such as a pipe, may never end.
    return stats.isFile() && stats.size <= MAX_IMAGE_BYTES ? path : undefined;
  });
}

/** The bytes of such an image. */
export async function readImageFile(directory: string, fileName: string): Promise<Buffer | undefined> {
  const path = await findImageFile(directory, fileName);
  return path === undefined ? undefined : orNothing(() => readFile(path));
}

async function orNothing<T>(read: () => Promise<T | undefined>): Promise<T | undefined> {
  try {
    return await read();
  } catch (error) {
    if (hasErrorCode(error, 'ENOENT', 'EISDIR', 'ENOTDIR')) return undefined;
    throw error;
  }
}
