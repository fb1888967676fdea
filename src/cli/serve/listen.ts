import type { AddressInfo } from 'node:net';
import { hasErrorCode } from '../../lib/file-system.ts';
import type { Listener } from '../../lib/http/listener.ts';
import type { Logger } from '../../lib/logger.ts';
import { CommandFailure, EXIT, onStopSignal } from '../command-line.ts';

/** The running service, with the functions that start and stop it. */
interface Service {
  readonly http: Listener;
  readonly console: Listener;
  warmUp(): void;
  startBackgroundWork(): void;
  announceStop(): void;
  close(): Promise<void>;
}

interface Address {
  readonly host: string;
  readonly port: number;
}

export interface ServeOptions {
  build(): Promise<Service>;
  /** Cleans up after an interrupted start. */
  onGivenUp(): void;
  readonly publicListener: Address;
  /** `undefined`: none. */
  readonly privateListener: Address | undefined;
  /** The origin of the examples that are printed at start. Default: the address of the port. */
  readonly baseUrl: string | undefined;
  readonly logger: Logger;
  readonly stdout: NodeJS.WritableStream;
}

/**
 * Builds the service and serves until SIGTERM or SIGINT; then accepted requests finish, and the process exits with 0
 * within 10 s. A signal during the start exits with 0 within a second. A second signal ends the process at once.
 */
export async function serve(options: ServeOptions): Promise<never> {
  const { build, publicListener, privateListener, logger } = options;
  const stop = listenForStop(options);
  const service = await build();
  if (!stop.isRequested()) {
    await bind(service.http, publicListener, 'PORT=3000');
    if (privateListener !== undefined) await bind(service.console, privateListener, 'CONSOLE_PORT=3001');
    stop.started();
    greet(options, service);
    service.warmUp();
    service.startBackgroundWork();
  }
  await stop.requested;
  service.announceStop();
  try {
    await service.close();
    await service.console.close();
  } catch (error) {
    logger.error({ err: error }, 'could not stop in order');
    process.exit(EXIT.failed);
  }
  process.exit(EXIT.done);
}

/** @throws CommandFailure if another process uses the port */
async function bind(listener: Listener, { host, port }: Address, example: string): Promise<void> {
  try {
    await listener.listen({ host, port });
  } catch (error) {
    if (!hasErrorCode(error, 'EADDRINUSE')) throw error;
    const message = `Port ${port} on ${host} is in use. Choose another one, for example: ${example} npm start`;
    throw new CommandFailure(message, { cause: error });
  }
}

/** A terminal also sends Ctrl-C to npm, which passes it on, so it arrives twice within milliseconds. */
const SAME_SIGNAL_MS = 200;
/** Less than a second. The rest of the start is abandoned. */
const STARTING_STOP_MS = 900;

interface Stop {
  /** Settles with the first signal. */
  readonly requested: Promise<void>;
  isRequested(): boolean;
  /** From now on a stop may take the time that accepted requests need. */
  started(): void;
}

function listenForStop({ logger, onGivenUp }: ServeOptions): Stop {
  const { promise: requested, resolve } = Promise.withResolvers<void>();
  let hasStarted = false;
  let first: { readonly signal: NodeJS.Signals; readonly atMs: number } | undefined;
  onStopSignal((signal) => {
    if (first !== undefined) {
      if (signal === first.signal && performance.now() - first.atMs < SAME_SIGNAL_MS) return;
      logger.warn({ signal }, 'stopped at once');
      process.exit(EXIT.failed);
    }
    first = { signal, atMs: performance.now() };
    if (hasStarted) {
      logger.info({ signal }, 'stopping: accepted requests finish first');
    } else {
      logger.info({ signal }, 'stopping: the start is given up');
      setTimeout(() => {
        onGivenUp();
        process.exit(EXIT.done);
      }, STARTING_STOP_MS);
    }
    resolve();
  });
  return {
    requested,
    isRequested: () => first !== undefined,
    started() {
      hasStarted = true;
    },
  };
}

function greet({ publicListener, privateListener, baseUrl, stdout }: ServeOptions, service: Service): void {
  const base = baseUrl ?? `http://localhost:${portOf(service.http)}`;
  stdout.write(`Pennant listens on ${publicListener.host}:${portOf(service.http)}. Try:
  ${base}/api/channel/pennantsample?type=handle
  ${base}/UCPennantSample00000001A/tv
  ${base}/api/search?q=pennant
`);
  if (privateListener === undefined) return;
  const { host } = privateListener;
  // The private listener accepts its own address and names of this machine.
  const name = isReachedLocally(host) ? 'localhost' : host.includes(':') ? `[${host}]` : host;
  stdout.write(`Playground: http://${name}:${portOf(service.console)}/playground/\n`);
}

function portOf({ server }: Listener): number {
  return (server.address() as AddressInfo).port;
}

function isReachedLocally(host: string): boolean {
  return ['0.0.0.0', '::', '127.0.0.1', '::1', 'localhost'].includes(host);
}
