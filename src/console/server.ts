import { isIP } from 'node:net';
import { fileURLToPath } from 'node:url';
import Fastify, { type FastifyInstance } from 'fastify';
import type { Holders } from '../lib/holders.ts';
import { TEXT_CONTENT_TYPE } from '../lib/metrics/metric.ts';
import type { Metrics } from '../lib/metrics/metrics.ts';
import { WITHOUT_SCHEMAS } from '../lib/without-schemas.ts';
import type { Purge } from '../services/purge.ts';
import { type History, startHistory } from './history.ts';
import { addPurgeRoute } from './purge-route.ts';
import { readState, type ServiceReaders } from './state.ts';
import { addStaticFiles } from './static-files.ts';
import { readTotals } from './totals.ts';

export interface ConsoleOptions {
  readonly readers: ServiceReaders;
  readonly metrics: Metrics;
  readonly holders: Holders;
  readonly purge: Purge;
  /** Whose stores `purge` empties. */
  readonly dataDir: string;
  /** Names, beside the loopback ones, by which the listener may be asked. */
  readonly allowedHosts: readonly string[];
  /** Where the playground finds the public listener; `hostname` is what the private one was asked by. */
  readonly publicBase: (hostname: string) => string;
}

/** What probes and scrapers ask for: by name, or by the address that they were given. */
const MACHINE_PATHS: ReadonlySet<string> = new Set(['/readyz', '/metrics']);

const SITE = fileURLToPath(new URL('../../site', import.meta.url));
const PAGE = fileURLToPath(new URL('page', import.meta.url));
/** What the console's page takes from the playground. */
const SHARED_FILES = ['base.css', 'dom.js', 'numbers.js', 'pennant.svg'];

const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
const PAGE_HEADERS = {
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'cross-origin-opener-policy': 'same-origin',
  'content-security-policy': `${POLICY}; connect-src 'self'; img-src 'self'`,
};
const PLAYGROUND_HEADERS = {
  ...PAGE_HEADERS,
  // It asks whichever instance is typed in, and shows pictures that it holds itself.
  'content-security-policy': `${POLICY}; connect-src http: https:; img-src 'self' blob:`,
};

/** The private listener: for the operator and the machinery around the service, never for the internet. */
export function createConsoleServer(options: ConsoleOptions): FastifyInstance {
  const { readers, metrics, holders, purge, dataDir, allowedHosts, publicBase } = options;
  const guard = createHostGuard({ allowedHosts });
  const app = Fastify({ logger: false, forceCloseConnections: true, schemaController: WITHOUT_SCHEMAS });
  let history: History | undefined;
  holders.add('console history', () => history?.stats() ?? {});

  app.addHook('onReady', async () => {
    history = startHistory({
      read: () => readTotals(metrics, Date.now()),
      queued: () => readers.encoder().queued,
    });
  });
  app.addHook('onClose', async () => history?.stop());

  app.addHook('onRequest', async (request, reply) => {
    const { host } = request.headers;
    const path = request.url.split('?', 1)[0] ?? '';
    if (path === '/healthz' || guard.isAllowed(host) || (MACHINE_PATHS.has(path) && guard.isAddress(host))) return;
    const detail = 'This listener does not answer to that name: add it to CONSOLE_ALLOWED_HOSTS.';
    return reply.code(403).send({ status: 403, detail });
  });
  app.addHook('onSend', async (_request, reply) => {
    if (!reply.hasHeader('cache-control')) reply.header('cache-control', 'no-store');
  });

  app.get('/healthz', () => ({ status: 'ok' }));
  app.get('/readyz', (_request, reply) => {
    const conditions = readers.conditions();
    const isReady = !conditions.some(({ isBlocking }) => isBlocking);
    return reply.code(isReady ? 200 : 503).send({ ready: isReady, conditions });
  });
  app.get('/metrics', (_request, reply) => reply.type(TEXT_CONTENT_TYPE).send(metrics.text()));

  app.get('/state.json', () => history && readState(readers, { metrics, holders, history }));
  addPurgeRoute(app, { purge, dataDir });
  const pageFolders = [{ directory: PAGE }, { directory: SITE, names: SHARED_FILES }];
  addStaticFiles(app, { prefix: '/', folders: pageFolders, headers: PAGE_HEADERS });

  app.get('/playground', (_request, reply) => reply.redirect('/playground/'));
  app.get('/playground/config.json', (request) => ({ instance: publicBase(request.hostname) }));
  addStaticFiles(app, { prefix: '/playground/', folders: [{ directory: SITE }], headers: PLAYGROUND_HEADERS });
  return app;
}

/** Names that only ever mean this machine. */
const LOOPBACK_NAMES = ['localhost', '127.0.0.1', '[::1]'];

interface HostGuard {
  /** Whether the name in `Host` is one that the operator gave to this listener. */
  isAllowed(host: string | undefined): boolean;
  /**
   * Whether it is at least an address: probes and scrapers ask by it. A page elsewhere cannot make a browser send one
   * for its own name, which is what DNS rebinding needs.
   */
  isAddress(host: string | undefined): boolean;
}

/** Decides by `Host` who may talk to the private listener: a name that was rebound to it is not among the names. */
function createHostGuard({ allowedHosts }: { readonly allowedHosts: readonly string[] }): HostGuard {
  const allowed = new Set([...LOOPBACK_NAMES, ...allowedHosts.map(bracketed)].map((host) => host.toLowerCase()));
  return {
    isAllowed: (host) => allowed.has(nameIn(host)),
    isAddress: (host) => isIP(nameIn(host).replace(/^\[(.*)\]$/, '$1')) !== 0,
  };
}

function bracketed(host: string): string {
  return isIP(host) === 6 ? `[${host}]` : host;
}

/** The name without its port and without the dot that ends a full name. */
function nameIn(host: string | undefined): string {
  return (host ?? '')
    .toLowerCase()
    .replace(/:\d{1,5}$/, '')
    .replace(/\.$/, '');
}
