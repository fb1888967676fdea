import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join, sep } from 'node:path';

/** 48 bits: enough to tell builds apart, and short enough to compare by eye. */
const DIGEST_HEX_CHARACTERS = 12;

/** A digest of the files below a directory, hidden ones and tests excepted: equal for equal builds, also without git. */
export function digestOfFiles(directory: string): string {
  const hash = createHash('sha256');
  const entries = readdirSync(directory, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name));
  for (const path of files.sort()) {
    const name = path.slice(directory.length + 1).replaceAll(sep, '/');
    if (/(?:^|\/)\.|\.test\.ts$/.test(name)) continue;
    hash.update(`\n${name}\n`).update(readFileSync(path));
  }
  return hash.digest('hex').slice(0, DIGEST_HEX_CHARACTERS);
}
