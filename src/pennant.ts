#!/usr/bin/env node

/*
 * The first module of every command. It has no static import and only syntax that Node 12 can parse, so that an older Node
 * prints a message instead of a syntax error.
 */

/** The same as `engines` in package.json. */
const REQUIRED_NODE = 24;

const runningNode = process.versions.node;

if (Number.parseInt(runningNode, 10) < REQUIRED_NODE) {
  process.stderr.write(
    `Pennant needs Node ${REQUIRED_NODE} or newer; this is Node ${runningNode} (${process.execPath}).\nInstall one here: npm install node@${REQUIRED_NODE}\n`,
  );
  process.exitCode = 1;
} else {
  import('./main.ts').then(({ main }) => main(process.argv.slice(2)));
}
