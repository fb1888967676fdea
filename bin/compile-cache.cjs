'use strict';

/*
 * Stripping types and compiling takes most of the start, so the results are stored in the data directory. The code that
 * strips types would also take 45 MiB of memory until the end of the service, so another process runs it before the first start.
 */

const { spawn } = require('node:child_process');
const { createHash } = require('node:crypto');
const { existsSync, mkdirSync, readdirSync, readFileSync, rm, statSync } = require('node:fs');
const { enableCompileCache, getCompileCacheDir } = require('node:module');
const { dirname, join } = require('node:path');

const COMPILER = join(__dirname, 'compile.cjs');
/** The file in a directory of the cache with the state of its sources. */
const COMPLETE = 'complete';

/** @param options of V8 that the service has set itself @param sources `undefined` in a package, which is JavaScript */
exports.keepCompiled = async (options, sources) => {
  // The threads and the encoders take the directory from the environment.
  const directory = process.env.NODE_COMPILE_CACHE ?? compileCacheOfThisInstallation();
  if (!isMade(directory)) return;
  process.env.NODE_COMPILE_CACHE = directory;
  enableCompileCache(directory);
  const own = getCompileCacheDir();
  // `node --watch` starts after every change, and its memory does not matter.
  if (sources === undefined || own === undefined || process.env.WATCH_REPORT_DEPENDENCIES !== undefined) return;
  const state = stateOf(sources);
  const complete = join(own, COMPLETE);
  if (readText(complete) !== state) await compileElsewhere([directory, own, complete, state], options);
};

/** Node itself never returns if a file system refuses directories with ENOENT, as /proc does (src/lib/file-system.ts). */
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
    // A few thousand small files. The start does not wait for it, and the next one tries again.
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

function readText(path) {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}

/** Changes when a source file is added, removed or written: an upgrade in the same directory. */
function stateOf(sources) {
  const hash = createHash('sha256');
  for (const name of readdirSync(sources, { recursive: true }).sort()) {
    // An editor's lock file is a broken link.
    const { size, mtimeMs } = statSync(join(sources, name), { throwIfNoEntry: false }) ?? {};
    hash.update(`${name} ${size} ${mtimeMs}\n`);
  }
  return hash.digest('hex');
}

/** Never fails. In the worst case the service compiles its code itself and needs more memory. */
function compileElsewhere(args, ownOptions) {
  // Compiled code depends on the options of V8. Other options (a debugger's port) are for the service only.
  const given = [...(process.env.NODE_OPTIONS ?? '').split(/\s+/), ...process.execArgv];
  const options = [...given.filter((option) => /^--(?:max|min|stack)-/.test(option)), ...ownOptions];
  const compiler = spawn(process.execPath, [...options, COMPILER, ...args], { env: {}, stdio: 'ignore' });
  const kill = () => compiler.kill('SIGKILL');
  process.once('exit', kill);
  return new Promise((resolve) => {
    compiler.once('error', resolve);
    compiler.once('exit', resolve);
  }).finally(() => process.off('exit', kill));
}
