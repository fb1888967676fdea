import type { IncomingMessage, ServerOptions } from 'node:http';
import { type AddressInfo, isIP } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Purge } from '../cache/purge.ts';
import type { Examples } from '../channels/examples.ts';
import { OperatorError } from '../domain/errors.ts';
import { identifiersOfName } from '../domain/pasted.ts';
import type { PublicListener } from '../http/server.ts';
import { createListener, createServer, type Listener } from '../lib/http/listener.ts';
import { createOpenConnections } from '../lib/http/open-connections.ts';
import type { ResponseWriter } from '../lib/http/response-writer.ts';
import { addBoundGauges } from '../lib/metrics.ts';
import type { Runtime } from '../lib/runtime.ts';
import { isOwnRequest, NOT_OWN_REQUEST } from './own-requests.ts';
import {
  type PrivateHandler,
  type PrivateResponse,
  problem,
  requestPath,
  sendResponse,
  staticRoutes,
} from './responses.ts';
import type { ConsoleStateReader } from './state.ts';

interface PrivateListenerOptions {
  readonly config: {
    readonly consoleHost: string;
    readonly consoleAllowedHosts: readonly string[];
    readonly baseUrls: readonly string[];
  };
  readonly runtime: Pick<Runtime, 'metrics' | 'logger' | 'failureLog'>;
  readonly state: ConsoleStateReader;
  readonly purge: Purge;
  readonly examples: Examples;
  readonly http: PublicListener;
  readonly responseWriter: ResponseWriter;
}

/** Browsers get the compiled pages, even if the service runs from its sources. */
const PAGES = fileURLToPath(new URL('../../dist/web', import.meta.url));
/** The playground of this listener requests the paths of the public listener below this one. */
const INSTANCE_PATH = '/playground/instance/';
/** Enough for some operators, scrapers and probes. The public listener leaves open files for them (`maxConnectionsFor`). */
const MAX_CONNECTIONS = 64;
/** All connections count as those of one client, so that a full listener closes the longest idle one. */
const OWNER = { key: 'private', network: 'private', maxConnections: Number.POSITIVE_INFINITY };

const SERVER_OPTIONS: ServerOptions = {
  headersTimeout: 5_000,
  requestTimeout: 10_000,
  // Longer than the usual pause between two scrapes.
  keepAliveTimeout: 72_000,
  connectionsCheckingInterval: 1_000,
};

const PAGE_HEADERS = {
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'cross-origin-opener-policy': 'same-origin',
  // The pages themselves have the other rules (web/*/index.html).
  'content-security-policy': "frame-ancestors 'none'",
};

/** The files of the pages, read once. */
const FILE_ROUTES = [
  ...staticRoutes('/', join(PAGES, 'console'), PAGE_HEADERS),
  ...staticRoutes('/guide/', join(PAGES, 'guide'), PAGE_HEADERS),
  ...staticRoutes('/playground/', join(PAGES, 'playground'), PAGE_HEADERS),
  ...staticRoutes('/playground/gallery/', join(PAGES, 'playground/gallery'), PAGE_HEADERS),
];

/** The private listener, for the operator and for monitoring. It must not be reachable from the internet. */
export function createPrivateListener(options: PrivateListenerOptions): Listener {
  const { config, runtime, state, purge, examples, http, responseWriter } = options;
  const { metrics, logger, failureLog } = runtime;
  const { consoleHost, consoleAllowedHosts } = config;
  const allowedNames = new Set(['localhost', consoleHost, ...consoleAllowedHosts].map((name) => name.toLowerCase()));

  /** By method and path. */
  const routes = new Map<string, PrivateHandler>([
    ['GET /healthz', () => ({ body: { status: 'ok' } })],
    ['GET /readyz', readiness],
    ['GET /metrics', async () => ({ headers: { 'content-type': metrics.contentType }, body: await metrics.metrics() })],
    ['GET /state.json', async () => ({ body: await state.read() })],
    ['POST /purge', purgeChannel],
    ['GET /playground', () => ({ status: 302, headers: { location: 'playground/' } })],
    [
      'GET /playground/config.json',
      async (request) => ({ body: { base: publicBase(request), channels: await examples() } }),
    ],
    ...FILE_ROUTES,
  ]);

  function readiness(): PrivateResponse {
    const body = state.readiness();
    return { status: body.ready ? 200 : 503, body };
  }

  /** `channel=` is a channel ID, an @handle or the URL of a channel page. */
  async function purgeChannel(request: IncomingMessage): Promise<PrivateResponse> {
    if (!isOwnRequest(request)) return NOT_OWN_REQUEST;
    const [, query] = (request.url ?? '').split('?', 2);
    const identifiers = identifiersOfName(new URLSearchParams(query).get('channel') ?? '');
    if (identifiers.length === 0) return problem(400, 'Name a channel ID, an @handle or a channel page’s URL.');
    try {
      const purged = await purge.purgeChannel(identifiers);
      return purged === undefined ? problem(404, 'Nothing is stored under that name.') : { body: purged };
    } catch (error) {
      if (!(error instanceof OperatorError)) throw error;
      return problem(503, `${error.message}.`);
    }
  }

  /** The beginning of the instance's URLs in the playground. */
  function publicBase({ headers }: IncomingMessage): string {
    // The operating system's choice for port 0.
    const address = http.server.address() as AddressInfo | null;
    return config.baseUrls[0] ?? `http://${nameIn(headers.host)}:${address?.port}`;
  }

  /** DNS rebinding needs a name, so every address is safe. */
  function isAllowed({ headers }: IncomingMessage): boolean {
    const name = nameIn(headers.host);
    return isIP(name.replace(/^\[(.*)\]$/, '$1')) !== 0 || allowedNames.has(name);
  }

  async function respond(request: IncomingMessage, hasKnownHost: boolean): Promise<PrivateResponse> {
    const route = routeOf(request);
    if (!hasKnownHost && !PROBES.has(route)) return HOST_NOT_ALLOWED;
    const handler = routes.get(route);
    if (handler === undefined) {
      const publicUrl = publicBase(request) + requestPath(request);
      return problem(404, `There is nothing at this path of the private listener. The public one has ${publicUrl}`);
    }
    const response = await handler(request);
    // Load balancers need the status. Conditions name paths, which a page could read by DNS rebinding.
    return hasKnownHost ? response : { status: response.status ?? 200 };
  }

  function fail(error: unknown): PrivateResponse {
    logger.error({ err: error }, 'a request to the console failed: a bug');
    return problem(500, 'Internal error. The log has the details.');
  }

  const connections = createOpenConnections({
    maxConnections: MAX_CONNECTIONS,
    maxConnectionsPerNetwork: Number.POSITIVE_INFINITY,
    onClosed() {
      const message = 'connections to the private listener are closed: it has too many';
      failureLog.report({ level: 'warn', key: message, message, fields: { maxConnections: MAX_CONNECTIONS } });
    },
  });
  addBoundGauges(metrics, 'pennant_private_connections', 'connections to the private listener', connections.stats);
  const server = createServer(SERVER_OPTIONS, (request, response) => {
    const { socket } = request;
    // Browsers and scrapers do not pipeline. The requests that fit into one read would delay the public listener by seconds.
    if (connections.latest(socket)?.closed === false) {
      socket.destroy();
      return;
    }
    connections.begin(socket, response);
    const send = (made: PrivateResponse) => response.destroyed || sendResponse(responseWriter, response, made);
    const { url = '' } = request;
    const hasKnownHost = isAllowed(request);
    if (!hasKnownHost || !url.startsWith(INSTANCE_PATH)) void respond(request, hasKnownHost).catch(fail).then(send);
    else if (!isOwnRequest(request)) send(NOT_OWN_REQUEST);
    else {
      // A request of this listener's playground, for the code of the public listener.
      request.url = new URL(publicBase(request)).origin + url.slice(INSTANCE_PATH.length - 1);
      http.respondToOperator(request, response);
    }
  });
  server.on('connection', (socket) => connections.add(socket, OWNER));
  const listener = createListener(server, connections);
  return {
    ...listener,
    close() {
      const closed = listener.close();
      server.closeAllConnections();
      return closed;
    },
  };
}

const PROBES: ReadonlySet<string> = new Set(['GET /healthz', 'GET /readyz']);

/** The key of a request's route. HEAD is handled as GET without the body. */
function routeOf(request: IncomingMessage): string {
  return `${request.method === 'HEAD' ? 'GET' : request.method} ${requestPath(request)}`;
}

const HOST_NOT_ALLOWED = problem(403, 'This host name is not allowed here: add it to CONSOLE_ALLOWED_HOSTS.');

/** The name in a `Host` field, without the port and a trailing dot. */
function nameIn(host = ''): string {
  return host
    .toLowerCase()
    .replace(/:\d{1,5}$/, '')
    .replace(/\.$/, '');
}
