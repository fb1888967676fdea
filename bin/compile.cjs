'use strict';

/*
 * Loads the service's modules, so that Node's compile cache has their code, and ends (compile-cache.cjs).
 *
 * Arguments: the cache's directory; the directory in it for this version and these options of V8, because code for others
 * is useless; the file to write at the end, and its text.
 */

const { writeFileSync } = require('node:fs');
const { enableCompileCache, flushCompileCache, getCompileCacheDir } = require('node:module');

/** The modules that the service and its threads load at start and for the first requests. */
const MODULES = [
  'main',
  'cli/serve',
  'cli/serve/start',
  'lib/http/body-reader-worker',
  'sources/catalog/worker',
  'sources/youtube/response-readers',
  'sources/youtube-data-api/parse',
  'store/sqlite-worker',
];

const [directory, expected, file, text] = process.argv.slice(2);
process.umask(process.umask(0o077) | 0o027);
enableCompileCache(directory);
if (getCompileCacheDir() === expected) compile();
else process.exitCode = 1;

async function compile() {
  // A thread's module throws outside of a thread, after it has been compiled.
  await Promise.allSettled(MODULES.map((name) => import(`../src/${name}.ts`)));
  flushCompileCache();
  writeFileSync(file, text);
  process.exit(0);
}
