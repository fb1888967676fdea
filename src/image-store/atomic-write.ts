import { randomBytes } from 'node:crypto';
import type { Stats } from 'node:fs';
import { open, readdir, rename, rm, rmdir, stat, utimes, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { hasErrorCode, makeDirectory } from '../lib/file-system.ts';

/** Distinguishes this process's files from those of an earlier process with the same ID, as is usual in a container. */
const PROCESS_MARK = `${process.pid}-${randomBytes(6).toString('hex')}`;
let lastNumber = 0;

/**
 * Writes a file atomically, even if the process is killed: under a temporary name, which is then renamed. A power cut
 * may still truncate the file, which its reader must detect. Missing directories are created.
 *
 * @param modifiedAtMs the file's modification time
 */
export async function writeWhole(
  path: string,
  temporaryDirectory: string,
  content: Buffer,
  modifiedAtMs: number,
): Promise<void> {
  lastNumber += 1;
  const temporaryPath = join(temporaryDirectory, `${PROCESS_MARK}-${lastNumber}`);
  try {
    await withDirectory(temporaryPath, () => writeFile(temporaryPath, content, { flag: 'wx' }));
    await utimes(temporaryPath, modifiedAtMs / 1000, modifiedAtMs / 1000);
    await withDirectory(path, () => rename(temporaryPath, path));
  } catch (error) {
    await removeIfAllowed(temporaryPath);
    throw error;
  }
}

const MAX_ATTEMPTS = 5;

/** Creates a missing directory. Other processes may remove it while it is empty, so there are several attempts. */
async function withDirectory<T>(path: string, run: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await run();
    } catch (error) {
      if (!hasErrorCode(error, 'ENOENT') || attempt === MAX_ATTEMPTS) throw error;
      makeDirectory(dirname(path));
    }
  }
}

/** Removes the temporary files of killed processes, but not of running ones. */
export async function removeLeftovers(temporaryDirectory: string): Promise<void> {
  for (const name of await listed(temporaryDirectory)) {
    if (isLeftover(name)) await removeIfAllowed(join(temporaryDirectory, name));
  }
}

const TEMPORARY_NAME = /^([1-9]\d*)-[0-9a-f]{12}-\d+$/;

function isLeftover(name: string): boolean {
  const processId = Number(TEMPORARY_NAME.exec(name)?.[1]);
  if (Number.isNaN(processId) || name.startsWith(`${PROCESS_MARK}-`)) return false;
  return processId === process.pid || !isRunning(processId);
}

function isRunning(processId: number): boolean {
  try {
    return process.kill(processId, 0);
  } catch (error) {
    // EPERM: it runs as another user.
    return hasErrorCode(error, 'EPERM');
  }
}

/** Resolves to `undefined` if the operation fails with one of the codes. */
async function ignoring<T>(codes: readonly string[], operation: Promise<T>): Promise<T | undefined> {
  try {
    return await operation;
  } catch (error) {
    if (hasErrorCode(error, ...codes)) return undefined;
    throw error;
  }
}

/** Returns the names in a directory; none if it does not exist or is not a directory. */
export async function listed(directory: string): Promise<string[]> {
  return (await ignoring(['ENOENT', 'ENOTDIR'], readdir(directory))) ?? [];
}

export type FileStats = Pick<Stats, 'size' | 'mtimeMs'>;

/** `undefined` if there is no such file. */
export function statsOf(path: string): Promise<FileStats | undefined> {
  return ignoring(['ENOENT'], stat(path));
}

/** Reads a complete file; `undefined` if there is no such file. */
export async function readIfPresent(path: string): Promise<{ content: Buffer; stats: FileStats } | undefined> {
  const handle = await ignoring(['ENOENT'], open(path));
  try {
    return handle && { stats: await handle.stat(), content: await handle.readFile() };
  } finally {
    await handle?.close();
  }
}

const NOT_ALLOWED = ['EROFS', 'EACCES', 'EPERM', 'ENOTDIR'];

/** Removes a useless file, or keeps it on a read-only disk, where its readers ignore it. */
export async function removeIfAllowed(path: string): Promise<void> {
  await ignoring(NOT_ALLOWED, rm(path, { force: true }));
}

/** Removes a directory if it is empty and may be removed. */
export async function removeIfEmpty(directory: string): Promise<void> {
  await ignoring([...NOT_ALLOWED, 'ENOTEMPTY', 'EEXIST', 'ENOENT'], rmdir(directory));
}
