'use strict';

// JavaScript, because Node would load its TypeScript support before the compile cache is enabled.
const { createHash } = require('node:crypto');
const { existsSync, mkdirSync, readdirSync, rm } = require('node:fs');
const { enableCompileCache } = require('node:module');
const { dirname, join } = require('node:path');
const { setFlagsFromString } = require('node:v8');
const { loadEnvFile } = require('./env-file.cjs');

const SOURCES = join(__dirname, '../src/main.ts');

const [command = 'serve', ...options] = process.argv.slice(2);
const isService = command === 'serve' && options.length === 0;
endOnSignal();
if (isService) limitGarbage();
// Only the service's user and group may read DATA_DIR.
process.umask(process.umask(0o077) | 0o027);
const envFile = loadEnvFile();
if (isService && envFile.problem === undefined) keepCompiled();
// A file of its own: Node 8 cannot read `import()`. No process of its own: signals must reach the service. A package
// brings no sources, since Node strips no types below node_modules.
import(existsSync(SOURCES) ? '../src/main.ts' : '../dist/main.js').then(({ main }) =>
  main(process.argv.slice(2), envFile),
);

/**
 * First of all: process 1 of a container ignores a signal without a handler, and loading takes a while. A handler waits
 * for the event loop, so that other processes do better without one. The command may replace it (src/cli/command-line.ts).
 */
function endOnSignal() {
  if (!isService && process.pid !== 1) return;
  process.on('SIGINT', () => process.exit(isService ? 0 : 130));
  process.on('SIGTERM', () => process.exit(isService ? 0 : 143));
}

/** On a machine with much memory, V8 lets the heap grow to several times its live size before it collects garbage. */
function limitGarbage() {
  setFlagsFromString('--heap-growing-percent=50');
}

/** Stripping types and compiling takes most of the start, so the results are cached in the data directory. */
function keepCompiled() {
  // The threads take the directory from the environment.
  const directory = process.env.NODE_COMPILE_CACHE ?? compileCacheOfThisInstallation();
  if (!isMade(directory)) return;
  process.env.NODE_COMPILE_CACHE = directory;
  enableCompileCache(directory);
}

/** Node itself never returns where a file system refuses directories with ENOENT, as /proc does (src/lib/file-system.ts). */
function isMade(directory) {
  if (existsSync(directory)) return true;
  const parent = dirname(directory);
  if (parent === directory || !isMade(parent)) return false;
  try {
    mkdirSync(directory);
    return true;
  } catch {
    return existsSync(directory);
  }
}

/** Each installation has its own directory. Those of other installations are deleted, or they would stay for ever. */
function compileCacheOfThisInstallation() {
  const directory = join(process.env.DATA_DIR?.trim() || './data', 'compile-cache');
  const { version } = require('../package.json');
  const own = createHash('sha256').update(`${version} ${process.version} ${__dirname}`).digest('hex').slice(0, 16);
  for (const name of namesIn(directory)) {
    // A few thousand small files; the start does not wait for it, and the next one tries again.
    if (name !== own) rm(join(directory, name), { recursive: true, force: true }, () => {});
  }
  return join(directory, own);
}

function namesIn(directory) {
  try {
    return readdirSync(directory);
  } catch {
    return [];
  }
}
