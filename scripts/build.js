/*
 * `npm run build`, which npm runs before each command: compiles src/ into dist/, and lets build-assets.ts do the rest. Node 14 can
 * parse this file, so that any Node says what is missing.
 */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';

/** The same as `engines` in package.json. */
const REQUIRED_NODE = 24;

const running = process.versions.node;
const compiler = 'node_modules/typescript/bin/tsc';

if (!existsSync(compiler)) {
  stop('The packages are not installed yet. Install them: npm ci');
} else if (Number.parseInt(running, 10) < REQUIRED_NODE) {
  stop(`Pennant needs Node ${REQUIRED_NODE} or newer; this is Node ${running} (${process.execPath}).
npm ci installs it with the packages, but not with --ignore-scripts. Install it now: npm rebuild node --ignore-scripts=false`);
} else {
  const { status } = spawnSync(process.execPath, [compiler, '-b', 'tsconfig.build.json'], { stdio: 'inherit' });
  if (status === 0) import('./build-assets.ts');
  else process.exitCode = 1;
}

function stop(message) {
  process.stderr.write(`${message}\n`);
  process.exitCode = 1;
}
