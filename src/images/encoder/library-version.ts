import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { findPackageJSON } from 'node:module';

/**
 * The version of the image library as hex digits, with the processor: another one may encode the same image as other bytes.
 * Does not see the libvips of the system, if sharp was compiled for that.
 */
export function readLibraryVersion(): string {
  // The versions of its compiled libraries are fixed by its own.
  const { version } = JSON.parse(readFileSync(findPackageJSON('sharp', import.meta.url) ?? '', 'utf8'));
  return hash('sha256', `${version} ${process.platform} ${process.arch}`).slice(0, 8);
}
