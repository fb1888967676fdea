/*
 * The second half of `npm run build`, after the compiler: copies the files of src/ that are no TypeScript (pages, images, the
 * OpenAPI document) to dist/, and deletes files of dist/ whose source is gone. Writes only what differs, so that an
 * installation without write access can start.
 */
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';

const SOURCE = join(import.meta.dirname, '../src');
const OUTPUT = join(import.meta.dirname, '../dist');
const BUILD_INFO = '.tsbuildinfo';

for (const name of filesIn(SOURCE)) {
  if (/\.ts$|tsconfig\.json$/.test(name)) continue;
  const [from, to] = [join(SOURCE, name), join(OUTPUT, name)];
  if (existsSync(to) && readFileSync(to).equals(readFileSync(from))) continue;
  mkdirSync(dirname(to), { recursive: true });
  copyFileSync(from, to);
}

for (const name of filesIn(OUTPUT)) {
  const sources = [name, name.replace(/\.js$/, '.ts')].map((source) => join(SOURCE, source));
  if (name !== BUILD_INFO && !sources.some(existsSync)) rmSync(join(OUTPUT, name));
}

/** Paths relative to the directory. */
function filesIn(directory: string): string[] {
  return readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(directory, join(entry.parentPath, entry.name)));
}
