import { randomBytes } from 'node:crypto';
import { mkdirSync, statSync } from 'node:fs';
import { readFile, rename, writeFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';

/** True for an error of the operating system with one of the codes, such as `ENOENT`. */
export function hasErrorCode(error: unknown, ...codes: readonly string[]): boolean {
  return error instanceof Error && 'code' in error && codes.includes(String(error.code));
}

/** True for an error of the file system or the network (full disk, missing rights). */
export function isSystemError(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && 'syscall' in error;
}

/** `undefined` for a file that does not exist. */
export async function readTextIfThere(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if (hasErrorCode(error, 'ENOENT')) return undefined;
    throw error;
  }
}

/** Writes a temporary file and renames it, so that no reader sees half of it. */
export async function replaceFile(path: string, content: string | Buffer): Promise<void> {
  const temporary = `${path}.${randomBytes(4).toString('hex')}.tmp`;
  await writeFile(temporary, content, { flush: true });
  await rename(temporary, path);
}

/** The path itself if it exists, otherwise the nearest existing parent. @param path absolute */
export function nearestExisting(path: string): string {
  if (statSync(path, { throwIfNoEntry: false }) !== undefined || dirname(path) === path) return path;
  return nearestExisting(dirname(path));
}

/**
 * Creates the directory and its missing parents. Below /proc, Node's own option `recursive` never ends (Node 24, 2026-11): the
 * system reports a missing parent where nothing can be created.
 */
export function createDirectory(path: string): void {
  const directory = resolve(path);
  if (nearestExisting(directory) === directory) return;
  createDirectory(dirname(directory));
  try {
    mkdirSync(directory);
  } catch (error) {
    // Another process may have created it.
    if (!hasErrorCode(error, 'EEXIST')) throw error;
  }
}
