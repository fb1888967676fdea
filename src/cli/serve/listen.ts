import type { AddressInfo } from 'node:net';
import type { FastifyInstance } from 'fastify';
import type { Logger } from '../../lib/logger.ts';

/** The running service, as far as starting and stopping it goes. */
interface Service {
  readonly http: FastifyInstance;
  readonly console: FastifyInstance;
  warmUp(): void;
  announceStop(): void;
  close(): Promise<void>;
}

interface Listener {
  readonly host: string;
  readonly port: number;
}

export interface ServeOptions {
  readonly service: Service;
  readonly publicListener: Listener;
  /** `undefined`: none. */
  readonly privateListener: Listener | undefined;
  /** Where the examples that are printed at start lead to; the port's own address when unset. */
  readonly baseUrl: string | undefined;
  readonly logger: Logger;
  readonly stdout: NodeJS.WritableStream;
}

/**
 * Serves until SIGTERM or SIGINT; then accepted requests finish, and the process ends with 0 within 10 s. A second
 * signal ends it at once.
 */
export async function serve(options: ServeOptions): Promise<void> {
  const { service, publicListener, privateListener, logger } = options;
  stopOnSignal(service, logger);
  await service.http.listen(publicListener);
  if (privateListener !== undefined) await service.console.listen(privateListener);
  greet(options);
  service.warmUp();
}

/** A terminal sends Ctrl-C to npm as well, which passes it on: it comes twice within milliseconds. */
const SAME_SIGNAL_MS = 200;

function stopOnSignal(service: Service, logger: Logger): void {
  let first: { readonly signal: NodeJS.Signals; readonly atMs: number } | undefined;
  const stop = (signal: NodeJS.Signals) => {
    if (first !== undefined) {
      if (signal === first.signal && performance.now() - first.atMs < SAME_SIGNAL_MS) return;
      logger.warn({ signal }, 'stopped at once');
      process.exit(1);
    }
    first = { signal, atMs: performance.now() };
    logger.info({ signal }, 'stopping: accepted requests finish first');
    service.announceStop();
    service
      .close()
      .then(() => service.console.close())
      .then(
        () => process.exit(0),
        (error: unknown) => {
          logger.error({ err: error }, 'could not stop in order');
          process.exit(1);
        },
      );
  };
  process.on('SIGTERM', stop);
  process.on('SIGINT', stop);
}

function greet({ service, publicListener, baseUrl, stdout }: ServeOptions): void {
  const { port } = service.http.server.address() as AddressInfo;
  const base = baseUrl ?? `http://localhost:${port}`;
  stdout.write(`Pennant listens on ${publicListener.host}:${port}. Try:
  ${base}/api/channel/pennantsample?type=handle
  ${base}/UCPennantSample00000001A/tv
  ${base}/api/search?q=pennant
`);
}
