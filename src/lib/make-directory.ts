import { mkdirSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { hasErrorCode } from './error-code.ts';

/**
 * Makes a directory, and those above it that are missing. Node's own `recursive` never returns where a file system
 * refuses new directories with ENOENT, as /proc does (seen with Node 24.21).
 *
 * @throws the file system's error, also where a file has the name.
 */
export function makeDirectory(path: string): void {
  try {
    makeOne(path);
  } catch (error) {
    const parent = dirname(path);
    if (!hasErrorCode(error, 'ENOENT') || parent === path) throw error;
    makeDirectory(parent);
    makeOne(path);
  }
}

/** One that is there already is as good. */
function makeOne(path: string): void {
  try {
    mkdirSync(path);
  } catch (error) {
    if (!isDirectory(path)) throw error;
  }
}

function isDirectory(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}
