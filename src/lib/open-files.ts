import { readFileSync } from 'node:fs';

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
