import { readFileSync } from 'node:fs';

/** For the service's own files, the private listener, encoders and outgoing connections. */
const RESERVED_FILES = 256;

/** How many files and connections this process may have open (proc(5)). Infinite where the system does not say. */
export function readOpenFilesLimit(limitsFile = '/proc/self/limits'): number {
  let text: string;
  try {
    text = readFileSync(limitsFile, 'utf8');
  } catch {
    return Number.POSITIVE_INFINITY;
  }
  const [, soft] = /^Max open files\s+(\d+)/m.exec(text) ?? [];
  return soft === undefined ? Number.POSITIVE_INFINITY : Number(soft);
}

/** How many connections clients may have open, so that some files are left for everything else. */
export function maxConnectionsFor(openFiles: number): number {
  return Math.max(1, openFiles - Math.min(RESERVED_FILES, Math.ceil(openFiles / 2)));
}
