import { readdir, rm, rmdir } from 'node:fs/promises';
import { hasErrorCode } from '../lib/error-code.ts';

/** The names in a directory; none when it is gone, or no directory. */
export async function listed(directory: string): Promise<string[]> {
  try {
    return await readdir(directory);
  } catch (error) {
    if (hasErrorCode(error, 'ENOENT', 'ENOTDIR')) return [];
    throw error;
  }
}

/** Removes a file that is of no use; on a disk that may only be read it stays, and its readers go on ignoring it. */
export async function removeIfAllowed(path: string): Promise<void> {
  try {
    await rm(path, { force: true });
  } catch (error) {
    if (!hasErrorCode(error, 'EROFS', 'EACCES', 'EPERM', 'ENOTDIR')) throw error;
  }
}

/** Removes a directory that nothing is in; one that others have just written to, or that may not be removed, stays. */
export async function removeIfEmpty(directory: string): Promise<void> {
  try {
    await rmdir(directory);
  } catch (error) {
    if (!hasErrorCode(error, 'ENOTEMPTY', 'EEXIST', 'ENOENT', 'ENOTDIR', 'EROFS', 'EACCES', 'EPERM')) throw error;
  }
}
