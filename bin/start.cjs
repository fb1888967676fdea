'use strict';

// No TypeScript: Node would load its support for that before what an earlier start has compiled could be used.
const { existsSync } = require('node:fs');
const { enableCompileCache } = require('node:module');
const { join } = require('node:path');

const SOURCES = join(__dirname, '../src/main.ts');

const [command = 'serve', ...options] = process.argv.slice(2);
if (command === 'serve' && options.length === 0) keepCompiled();
// A file of its own: Node 8 cannot read `import()`. No process of its own: signals must reach the service. A package
// brings no sources, since Node strips no types below node_modules.
import(existsSync(SOURCES) ? '../src/main.ts' : '../dist/main.js');

/** Stripping types and compiling takes most of a start: what is kept in the data directory is used by the next one. */
function keepCompiled() {
  loadEnvFile();
  const dataDirectory = process.env.DATA_DIR?.trim() || './data';
  // The threads take the directory from the environment.
  process.env.NODE_COMPILE_CACHE ??= join(dataDirectory, 'compile-cache');
  enableCompileCache(process.env.NODE_COMPILE_CACHE);
}

function loadEnvFile() {
  try {
    process.loadEnvFile();
  } catch {
    // src/main.ts says what is wrong with it.
  }
}
