import type { AddressInfo } from 'node:net';
import { type App, buildApp, STOP_MS } from '../../app/build.ts';
import type { Environment } from '../../config/environment.ts';
import { shownSettings } from '../../config/report.ts';
import type { Config } from '../../config/settings.ts';
import { OperatorError } from '../../domain/errors.ts';
import { systemClock } from '../../lib/clock.ts';
import { withinMs } from '../../lib/deadlines.ts';
import { isSystemError } from '../../lib/file-system.ts';
import type { Listener } from '../../lib/http/listener.ts';
import { createLogger, createTerminalLog, type Logger } from '../../lib/logger.ts';
import { type CommandContext, EXIT, originOf, written } from '../command.ts';
import { markDataDir } from './data-dir-lock.ts';
import { describeListenError, type ListenerSettings } from './listen-error.ts';

/**
 * Builds the service and serves until SIGTERM or SIGINT; then accepted requests finish, and the process exits with 0
 * within 10 s. A signal during the start exits with 0 at once (src/main.ts).
 *
 * @throws OperatorError if the catalog cannot be read, or an address cannot be used
 */
export async function startService(
  config: Config,
  warnings: readonly string[],
  { version, env, envFile, stdout }: CommandContext,
): Promise<never> {
  // The service keeps running when its output cannot be written, for example on a full disk.
  stdout.removeAllListeners('error').on('error', () => undefined);
  const destination = stdout.isTTY === true ? await createTerminalLog() : undefined;
  const logger = createLogger(config.logLevel, destination);
  // Node prints the error itself to standard error, which is no part of the log.
  process.on('uncaughtExceptionMonitor', (error) => {
    logger.child({}, { level: 'fatal' }).fatal({ err: error }, 'the service ends because of a bug');
  });
  for (const warning of warnings) logger.warn(warning);
  const { dataDir, host, port, consoleHost, consolePort } = config;
  if (!markDataDir(dataDir)) logger.warn('another service uses this DATA_DIR: give each its own');
  const settings = shownSettings(env, envFile.loaded);
  const service = await buildApp(config, { logger, version, settings });
  const stopRequested = untilStop(env);
  await bind(service.http, { setting: 'PORT', host, port });
  // The private listener is off at port 0.
  if (consolePort !== 0) await bind(service.console, { setting: 'CONSOLE_PORT', host: consoleHost, port: consolePort });
  reportStart(config, service, logger);
  service.warmUp();
  logger.info({ cause: await stopRequested }, 'stopping: accepted requests finish first');
  const closing = service.close().then(() => true);
  const isClosed = await withinMs(systemClock, closing, STOP_MS);
  if (!isClosed) logger.warn('the stop took too long: what was not stored yet is loaded or encoded again');
  await withinMs(systemClock, written(stdout), LAST_LINES_MS);
  process.exit(EXIT.done);
}

/** @throws OperatorError if the address cannot be used */
async function bind(listener: Listener, { setting, host, port }: ListenerSettings): Promise<void> {
  try {
    await listener.listen({ host, port });
  } catch (error) {
    if (!isSystemError(error)) throw error;
    throw new OperatorError(describeListenError({ setting, host, port }, error), { cause: error });
  }
}

/** How often the service looks whether npm's shell still runs. */
const PARENT_CHECK_MS = 500;
/** How long a stop waits for the reader of the log. */
const LAST_LINES_MS = 500;

/** npm's shell, if npm has started the service. */
const parent = process.ppid;

/** Resolves with the signal that asks for a stop. Replaces the handlers of src/main.ts, which end the process. */
function untilStop({ npm_lifecycle_event: npmScript }: Environment): Promise<string> {
  return new Promise((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) {
      const earlier = process.listeners(signal);
      // Added before the others are removed: without a handler the signal would end the process, or be ignored by process 1.
      process.on(signal, resolve);
      for (const listener of earlier) process.off(signal, listener);
    }
    if (npmScript !== 'start') return;
    // npm passes SIGTERM on to its shell only, which ends.
    setInterval(() => process.ppid === parent || resolve('npm has ended'), PARENT_CHECK_MS).unref();
  });
}

/** Says where the service listens, and where its pages are, at any log level. */
function reportStart({ host, consoleHost, consolePort }: Config, { http, console }: App, logger: Logger): void {
  const message = `Pennant listens on ${host}:${portOf(http)}.`;
  // If the private listener does not listen, it has no port.
  const privateOrigin = consolePort === 0 ? undefined : originOf(consoleHost, portOf(console));
  const pages = privateOrigin && { playground: `${privateOrigin}/playground/`, console: `${privateOrigin}/` };
  logger.child({}, { level: 'info' }).info({ ...pages }, message);
}

function portOf({ server }: Listener): number {
  return (server.address() as AddressInfo).port;
}
