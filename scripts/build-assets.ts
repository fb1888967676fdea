/*
 * The second half of `npm run build`, after the compiler: bundles the pages of web/ and writes them, with the pages of docs/, to
 * dist/web/, and deletes files of dist/ whose source is gone. Writes only what differs, so that an installation without write
 * access can start.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { build } from 'esbuild';
import { apiPage, GUIDE, guidePage } from './docs-site.ts';

const ROOT = join(import.meta.dirname, '..');
const OUTPUT = join(ROOT, 'dist');
const BUILD_INFO = '.tsbuildinfo';

/** A bundle is one file with everything that its entry imports, because a slow connection waits for every file. */
const BUNDLES = {
  'web/playground/playground': 'web/playground/main.tsx',
  'web/playground/pages': 'web/styles/pages.css',
  'web/console/console': 'web/console/main.tsx',
};

const { outputFiles } = await build({
  absWorkingDir: ROOT,
  entryPoints: BUNDLES,
  outdir: OUTPUT,
  bundle: true,
  minify: true,
  format: 'esm',
  target: 'es2024',
  charset: 'utf8',
  write: false,
});

/** What belongs in dist/ besides the compiler's files. */
const files = new Map<string, Uint8Array>(outputFiles.map(({ path, contents }) => [relative(OUTPUT, path), contents]));
/** All files that are kept. */
const kept = new Set([BUILD_INFO]);
for (const name of filesIn(join(ROOT, 'src'))) {
  if (name.endsWith('.test.ts')) continue;
  if (name.endsWith('.ts')) kept.add(name.replace(/ts$/, 'js'));
  else files.set(name, readFileSync(join(ROOT, 'src', name)));
}
for (const name of filesIn(join(ROOT, 'web'))) {
  if (/\.(?:html|svg|webp)$/.test(name)) files.set(`web/${name}`, readFileSync(join(ROOT, 'web', name)));
}
files.set('web/playground/api.html', Buffer.from(apiPage(readDocument('docs/api.md'))));
for (const [page, path] of Object.entries(GUIDE)) {
  files.set(`web/guide/${page}.html`, Buffer.from(guidePage(readDocument(path))));
}

for (const [name, content] of files) {
  const path = join(OUTPUT, name);
  if (existsSync(path) && readFileSync(path).equals(content)) continue;
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, content);
}

for (const name of filesIn(OUTPUT)) if (!files.has(name) && !kept.has(name)) rmSync(join(OUTPUT, name));

function readDocument(path: string): string {
  return readFileSync(join(ROOT, path), 'utf8');
}

/** Paths relative to the directory. */
function filesIn(directory: string): string[] {
  return readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(directory, join(entry.parentPath, entry.name)));
}
