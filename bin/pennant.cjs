#!/usr/bin/env node
'use strict';

// Nothing that is loaded before the check may be newer than Node 8: an older Node should say what it lacks, not fail on
// syntax that it cannot read.
const { engines } = require('../package.json');

const required = Number.parseInt(engines.node.replace('>=', ''), 10);
const running = process.versions.node;

if (Number.parseInt(running, 10) < required) {
  const advice = `Install one here: npm install node@${required}`;
  process.stderr.write(
    `Pennant needs Node ${required} or newer; this is Node ${running} (${process.execPath}).\n${advice}\n`,
  );
  process.exitCode = 1;
} else {
  require('./start.cjs');
}
