/*
 * The second half of `npm run build`, after the compiler: bundles the pages, copies the other files of src/ (HTML, images) to
 * dist/, writes the pages of docs/ there, and deletes files of dist/ whose source is gone. Writes only what differs, so that an
 * installation without write access can start.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { build } from 'esbuild';
import { apiPage, GUIDE_PAGES, guidePage } from './docs-site.ts';

const SOURCE = join(import.meta.dirname, '../src');
const DOCUMENTS = join(import.meta.dirname, '../docs');
const OUTPUT = join(import.meta.dirname, '../dist');
const BUILD_INFO = '.tsbuildinfo';

/** Each becomes one file with everything that it imports, because a slow connection waits for each file. */
const BUNDLES = [
  'site/main.ts',
  'site/main.css',
  'site/api.css',
  'console/page/console.ts',
  'console/page/console.css',
];
/** The scripts and style sheets of these folders are in a bundle. */
const PAGE_FOLDERS = /^(?:site|console\/page)\//;

/** What belongs in dist/ besides the compiler's files. */
const files = new Map<string, Uint8Array>();
const compiled = new Set([BUILD_INFO]);

for (const name of filesIn(SOURCE)) {
  const isBundled = PAGE_FOLDERS.test(name) && /\.(?:ts|css)$/.test(name);
  if (isBundled || /\.test\.ts$|tsconfig\.json$/.test(name)) continue;
  if (name.endsWith('.ts')) compiled.add(name.replace(/ts$/, 'js'));
  else files.set(name, readFileSync(join(SOURCE, name)));
}

const { outputFiles } = await build({
  absWorkingDir: SOURCE,
  entryPoints: BUNDLES,
  outbase: SOURCE,
  outdir: OUTPUT,
  bundle: true,
  minify: true,
  format: 'esm',
  target: 'es2024',
  charset: 'utf8',
  write: false,
});
for (const { path, contents } of outputFiles) files.set(relative(OUTPUT, path), contents);

for (const name of GUIDE_PAGES) files.set(`console/guide/${name}.html`, Buffer.from(guidePage(documentNamed(name))));
files.set('site/api.html', Buffer.from(apiPage(documentNamed('api'))));

for (const [name, content] of files) {
  const path = join(OUTPUT, name);
  if (existsSync(path) && readFileSync(path).equals(content)) continue;
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, content);
}

for (const name of filesIn(OUTPUT)) if (!files.has(name) && !compiled.has(name)) rmSync(join(OUTPUT, name));

function documentNamed(name: string): string {
  return readFileSync(join(DOCUMENTS, `${name}.md`), 'utf8');
}

/** Paths relative to the directory. */
function filesIn(directory: string): string[] {
  return readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(directory, join(entry.parentPath, entry.name)));
}
