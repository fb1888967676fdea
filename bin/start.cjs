'use strict';

// JavaScript, because Node would load its TypeScript support before the compile cache is enabled.
const { existsSync } = require('node:fs');
const { join } = require('node:path');
const { setFlagsFromString } = require('node:v8');
const { keepCompiled } = require('./compile-cache.cjs');
const { loadEnvFile } = require('./env-file.cjs');

const SOURCES = join(__dirname, '../src');
const GARBAGE_LIMIT = '--heap-growing-percent=50';

const [command = 'serve', ...options] = process.argv.slice(2);
const isService = command === 'serve' && options.length === 0;
handleSignals();
if (isService) limitGarbage();
// Only the service's user and group may read DATA_DIR.
process.umask(process.umask(0o077) | 0o027);
const envFile = loadEnvFile();
start();

async function start() {
  // A package has no sources, because Node strips no types below node_modules.
  const sources = existsSync(SOURCES) ? SOURCES : undefined;
  if (isService && envFile.problem === undefined) await keepCompiled([GARBAGE_LIMIT], sources);
  // A separate file, because Node 8 cannot parse `import()`. The same process, because signals must reach the service.
  const { main } = await import(sources === undefined ? '../dist/main.js' : '../src/main.ts');
  return main(process.argv.slice(2), envFile);
}

/**
 * Must come first: process 1 of a container ignores a signal without a handler, and loading takes a while. Other
 * processes are not ended by a handler, because it would wait for the event loop. The command may replace those of SIGINT
 * and SIGTERM (src/cli/command.ts).
 */
function handleSignals() {
  // Without a handler, Node opens a debugger.
  process.on('SIGUSR1', () => {});
  // The service survives a closed terminal. Once started it also logs the signal (src/cli/serve/start.ts).
  if (isService) process.on('SIGHUP', () => {});
  if (!isService && process.pid !== 1) return;
  process.on('SIGINT', () => process.exit(isService ? 0 : 130));
  process.on('SIGTERM', () => process.exit(isService ? 0 : 143));
}

/** On a machine with much memory, V8 lets the heap grow to several times its live size before it collects garbage. */
function limitGarbage() {
  setFlagsFromString(GARBAGE_LIMIT);
}
