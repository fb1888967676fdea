'use strict';

/*
 * The container's health check: exits with 0 if the private listener from the settings responds, otherwise with 1. If
 * CONSOLE_PORT is 0, the public listener is checked.
 */

const { loadEnvFile } = require('./env-file.cjs');

const DEFAULTS = { PORT: '8080', HOST: '0.0.0.0', CONSOLE_PORT: '8081', CONSOLE_HOST: '127.0.0.1' };

loadEnvFile();
const hasConsole = Number(setting('CONSOLE_PORT')) !== 0;
const url = hasConsole
  ? `http://${reachable(setting('CONSOLE_HOST'))}:${setting('CONSOLE_PORT')}/healthz`
  : `http://${reachable(setting('HOST'))}:${setting('PORT')}/`;
fetch(url).then(
  ({ status }) => process.exit(status < 500 ? 0 : 1),
  () => process.exit(1),
);

function setting(name) {
  return process.env[name]?.trim() || DEFAULTS[name];
}

/** The address at which this machine reaches a listener that is bound to the given one. */
function reachable(host) {
  const address = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host;
  return address.includes(':') ? `[${address}]` : address;
}
