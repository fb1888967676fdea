import { statSync } from 'node:fs';
import { dirname } from 'node:path';

/** The path itself where it exists, else the nearest folder above it that does. @param path absolute */
export function nearestExisting(path: string): string {
  if (statSync(path, { throwIfNoEntry: false }) !== undefined || dirname(path) === path) return path;
  return nearestExisting(dirname(path));
}
