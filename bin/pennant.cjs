#!/usr/bin/env node
'use strict';

// Code that is loaded before the check must run on Node 8, so that an older Node prints a message instead of a syntax error.
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
