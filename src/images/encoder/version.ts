import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { findPackageJSON } from 'node:module';
import { join } from 'node:path';

/** The code of the encoder and of what it imports. */
const CODE_DIRECTORIES = ['..', '../../domain'].map((name) => join(import.meta.dirname, name));

/**
 * The version of the code that encoders run, from the files on the disk: `src/images`, `src/domain` and the package.json of the
 * image library. It changes when the files of a running server are replaced.
 */
export function readEncoderVersion(): string {
  const hash = createHash('sha256');
  for (const directory of CODE_DIRECTORIES) {
    for (const name of readdirSync(directory, { recursive: true, encoding: 'utf8' }).sort()) {
      const isCode = /\.[jt]s$/.test(name) && !name.includes('.test.');
      if (isCode) hash.update(`\n${name}\n`).update(readFileSync(join(directory, name)));
    }
  }
  const library = findPackageJSON('sharp', import.meta.url);
  // Missing during an upgrade. Encoders then report that they cannot be loaded.
  if (library !== undefined) hash.update(readFileSync(library));
  return hash.digest('hex').slice(0, 16);
}
