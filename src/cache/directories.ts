import { readdir, rm } from 'node:fs/promises';
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
