import { createHash } from 'node:crypto';
import { type Dirent, readdirSync, readFileSync } from 'node:fs';
import { findPackageJSON } from 'node:module';
import { join, relative } from 'node:path';

/** Of the encoder and of what it imports: `src/images`. */
const CODE_DIRECTORY = join(import.meta.dirname, '..');

/**
 * A version of the code that encoders run, as it is on the disk now: the files of `src/images` and the picture library's
 * version. A server whose files were replaced while it runs sees another version.
 */
export function readEncoderVersion(): string {
  const hash = createHash('sha256');
  for (const entry of readdirSync(CODE_DIRECTORY, { recursive: true, withFileTypes: true }).toSorted(byPath)) {
    if (!entry.isFile() || entry.name.includes('.test.')) continue;
    const path = join(entry.parentPath, entry.name);
    hash.update(`\n${relative(CODE_DIRECTORY, path)}\n`).update(readFileSync(path));
  }
  return hash.update(`\n${libraryVersion()}`).digest('hex').slice(0, 16);
}

function byPath(a: Dirent, b: Dirent): number {
  return join(a.parentPath, a.name) < join(b.parentPath, b.name) ? -1 : 1;
}

function libraryVersion(): string {
  const path = findPackageJSON('sharp', import.meta.url);
  // Absent in the middle of an upgrade: encoders cannot be loaded then, and say so.
  if (path === undefined) return '';
  return (JSON.parse(readFileSync(path, 'utf8')) as { version: string }).version;
}
