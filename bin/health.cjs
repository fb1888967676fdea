'use strict';

/*
 * The container's health check: exits with 0 when the private listener that the settings name answers, else with 1.
 * Where CONSOLE_PORT is 0, the public one must.
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

/** Where a listener that binds this address is reached from this machine. */
function reachable(host) {
  const address = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host;
  return address.includes(':') ? `[${address}]` : address;
}
