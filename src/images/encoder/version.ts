import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { findPackageJSON } from 'node:module';
import { join } from 'node:path';

const OWN_DIRECTORY = import.meta.dirname;

/**
 * Of the code that encoders run, as it is on the disk now: this directory's files and the picture library's version.
 * It tells a server whose files were replaced while it runs from one that was not.
 */
export function readEncoderVersion(): string {
  const hash = createHash('sha256');
  for (const name of readdirSync(OWN_DIRECTORY).toSorted()) {
    if (!name.includes('.test.')) hash.update(`\n${name}\n`).update(readFileSync(join(OWN_DIRECTORY, name)));
  }
  return hash.update(`\n${libraryVersion()}`).digest('hex').slice(0, 16);
}

function libraryVersion(): string {
  const path = findPackageJSON('sharp', import.meta.url);
  // Absent in the middle of an upgrade: encoders cannot be loaded then, and say so.
  if (path === undefined) return '';
  return (JSON.parse(readFileSync(path, 'utf8')) as { version: string }).version;
}
