import { createHash } from 'node:crypto';
import { existsSync, globSync, readFileSync, realpathSync } from 'node:fs';
import { findPackageJSON } from 'node:module';
import { dirname, join } from 'node:path';
import { hashFiles } from '../../lib/file-digest.ts';
import { hasErrorCode } from '../../lib/file-system.ts';

/** The code of the encoder and of what it imports. */
const CODE_DIRECTORIES = ['..', '../../domain'].map((name) => join(import.meta.dirname, name));

/**
 * The version of the code that encoders run, from the files on the disk: `src/images`, `src/domain` and the image library.
 * It changes when the files of a running server are replaced.
 */
export function readEncoderVersion(): string {
  const hash = createHash('sha256');
  const isCode = (name: string) => /\.[jt]s$/.test(name) && !name.includes('.test.');
  for (const directory of CODE_DIRECTORIES) hashFiles(hash, directory, isCode);
  return hash.update(readLibraryVersion()).digest('hex').slice(0, 16);
}

/**
 * The version of the image library: 8 hex digits for the names and versions of sharp and of the packages with its compiled
 * libraries, which also name the processor. Another version may encode the same image as other bytes. Does not see the
 * libvips of the system, if sharp was compiled for that.
 *
 * @param importer URL or path of a file that imports sharp. Default: this file
 */
export function readLibraryVersion(importer: string = import.meta.url): string {
  const library = findLibrary(importer);
  const hash = createHash('sha256');
  if (library !== undefined) {
    const packages = dirname(realpathSync(library));
    for (const directory of globSync(['sharp', '@img/*'], { cwd: packages }).sort()) {
      const path = join(packages, directory, 'package.json');
      if (existsSync(path)) hash.update(`${directory} ${JSON.parse(readFileSync(path, 'utf8')).version}\n`);
    }
  }
  return hash.digest('hex').slice(0, 8);
}

/** Its directory; `undefined` during an upgrade. Encoders then report that they cannot be loaded. */
function findLibrary(importer: string): string | undefined {
  try {
    const found = findPackageJSON('sharp', importer);
    return found && dirname(found);
  } catch (error) {
    if (hasErrorCode(error, 'ERR_MODULE_NOT_FOUND')) return undefined;
    throw error;
  }
}
