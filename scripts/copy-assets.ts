/*
 * The second half of `npm run build`, after the compiler: copies the files of src/ that are no TypeScript (pages, images, the
 * OpenAPI document) to dist/, writes the guide's pages there, and deletes files of dist/ whose source is gone. Writes only
 * what differs, so that an installation without write access can start.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { GUIDE_PAGES, guidePage } from './docs-site.ts';

const SOURCE = join(import.meta.dirname, '../src');
const DOCUMENTS = join(import.meta.dirname, '../docs');
const OUTPUT = join(import.meta.dirname, '../dist');
const BUILD_INFO = '.tsbuildinfo';

/** The content of each file that the compiler does not write, by its path in dist/. */
const assets = new Map<string, Buffer>([
  ...filesIn(SOURCE)
    .filter((name) => !/\.ts$|tsconfig\.json$/.test(name))
    .map((name) => [name, readFileSync(join(SOURCE, name))] as const),
  ...GUIDE_PAGES.map((name) => {
    const page = guidePage(readFileSync(join(DOCUMENTS, `${name}.md`), 'utf8'));
    return [join('console/guide', `${name}.html`), Buffer.from(page)] as const;
  }),
]);

for (const [name, content] of assets) {
  const path = join(OUTPUT, name);
  if (existsSync(path) && readFileSync(path).equals(content)) continue;
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, content);
}

for (const name of filesIn(OUTPUT)) {
  const isCompiled = name.endsWith('.js') && existsSync(join(SOURCE, name.replace(/\.js$/, '.ts')));
  if (name !== BUILD_INFO && !assets.has(name) && !isCompiled) rmSync(join(OUTPUT, name));
}

/** Paths relative to the directory. */
function filesIn(directory: string): string[] {
  return readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(directory, join(entry.parentPath, entry.name)));
}
