import type { IncomingMessage, ServerOptions, ServerResponse } from 'node:http';
import findMyWay from 'find-my-way';
import { AppError } from '../domain/errors.ts';
import { TIME_LIMITS_MS } from '../domain/time-limits.ts';
import { createListener, createServer, type Listener } from '../lib/http/listener.ts';
import { runInSpan } from '../lib/tracing.ts';
import { withinMs, withRequest } from '../lib/work.ts';
import { createRateLimitStep, type RateLimitStepOptions } from './request/client.ts';
import {
  type ContextOptions,
  createContextFactory,
  type Endpoint,
  type HttpResponse,
  METHODS,
  type RequestContext,
  routeNotFound,
  validate,
} from './request/context.ts';
import { findHint } from './request/hints.ts';
import { MAX_URL_BYTES } from './request/target.ts';
import { createRequestTracing } from './request/tracing.ts';
import { type AccessLogOptions, createAccessLog } from './response/access-log.ts';
import { createClientErrors } from './response/client-errors.ts';
import { createMicroCache, type MicroCacheOptions } from './response/micro-cache.ts';
import { problemResponse } from './response/problems.ts';
import { applyConditions, PREFLIGHT, send } from './response/response.ts';
import { createRecordBodies, type RecordBodiesOptions } from './response/serializers.ts';
import { badgeRoute } from './routes/badges.ts';
import { bannerRoutes } from './routes/banners.ts';
import { channelBatchRoute } from './routes/channel-batches.ts';
import { channelRoutes, searchRoute } from './routes/channels.ts';
import { documentRoutes } from './routes/documents.ts';

const ROUTES = [documentRoutes, channelRoutes, channelBatchRoute, searchRoute, badgeRoute, bannerRoutes];

type RouteOptions = (typeof ROUTES)[number] extends (options: infer Options) => unknown ? Options : never;
export type HttpServerOptions = Omit<ContextOptions, 'isClosing'> &
  RateLimitStepOptions &
  MicroCacheOptions &
  Omit<RouteOptions, 'recordBodyOf'> &
  RecordBodiesOptions &
  AccessLogOptions;

const SERVER_OPTIONS: ServerOptions = {
  headersTimeout: 10_000,
  requestTimeout: 20_000,
  // Longer than nginx keeps its upstream connections (60 s) and clients theirs (75 s), so that the other side closes first.
  keepAliveTimeout: 80_000,
  connectionsCheckingInterval: 2_000,
  maxHeaderSize: 24 * 1024,
  // Node would respond with an empty body. The pipeline's validation responds with JSON.
  requireHostHeader: false,
};

/** The public listener. Every response is an image or JSON, whatever the request is. */
export function createHttpServer(options: HttpServerOptions): Listener {
  const { clock, clients, holders } = options;
  const createContext = createContextFactory({ ...options, isClosing: () => listener.isClosing });
  const startSpan = createRequestTracing(options);
  const rateLimit = createRateLimitStep(options);
  const microCache = createMicroCache(options);
  const routeOptions = { ...options, recordBodyOf: createRecordBodies(options) };
  const endpoints = ROUTES.flatMap((routes) => routes(routeOptions));
  const route = createRouter(endpoints);
  const accessLog = createAccessLog(options, endpoints);
  holders.add('IPv6 addresses', clients.stats);

  /**
   * Every request takes these steps, in this order, until one of them has the response: rate limit, validation,
   * micro-cache, route, handler. Uses promises only if one of them returns a promise.
   *
   * @throws AppError if the request is refused or fails
   */
  function respond(context: RequestContext): HttpResponse | Promise<HttpResponse> {
    const limited = rateLimit(context);
    return limited === undefined ? respondAdmitted(context) : limited.then(() => respondAdmitted(context));
  }

  function respondAdmitted(context: RequestContext): HttpResponse | Promise<HttpResponse> {
    validate(context);
    return microCache.find(context) ?? callEndpoint(context);
  }

  /** A preflight ends after its path is read. */
  function callEndpoint(context: RequestContext): HttpResponse | Promise<HttpResponse> {
    const { id, client, request, target } = context;
    const endpoint = route(context);
    if (endpoint === undefined) throw routeNotFound(target.path);
    const path = endpoint.parsePath?.(context.pathParameters);
    if (request.method === 'OPTIONS') return PREFLIGHT;
    const response = withRequest({ requestId: id, client: client.key }, () => endpoint.respond(path, context));
    return response instanceof Promise ? inTime(response) : response;
  }

  /** @throws AppError `upstream_timeout` after 11.5 s */
  async function inTime(responding: Promise<HttpResponse>): Promise<HttpResponse> {
    const response = await withinMs(clock, responding, TIME_LIMITS_MS.response);
    if (response !== undefined) return response;
    throw new AppError('upstream_timeout', 'The response took too long. Try again.');
  }

  /** Every response passes these steps, in this order. */
  function finish(context: RequestContext, made: HttpResponse): void {
    microCache.keep(context, made);
    const response = applyConditions(context, made);
    send(context, response);
    accessLog.observe(context, response);
  }

  /** Responds unless the client has disconnected. Metrics name the endpoint even if the request was refused before. */
  function fail(context: RequestContext, error: unknown): void {
    const { request, response, target, endpoint } = context;
    if (response.headersSent || response.destroyed) return;
    if (endpoint === undefined && target.problem === undefined && METHODS.has(request.method)) route(context);
    finish(context, problemResponse(error, context, findHint(error, context)));
  }

  function run(context: RequestContext): void {
    try {
      const response = respond(context);
      if (response instanceof Promise)
        response.then((ready) => finish(context, ready)).catch((error) => fail(context, error));
      else finish(context, response);
    } catch (error) {
      fail(context, error);
    }
  }

  function handle(request: IncomingMessage, response: ServerResponse): void {
    const context = createContext(request, response);
    const span = startSpan?.(context);
    if (span === undefined) run(context);
    else runInSpan(span, () => run(context));
  }

  const { onParserError, onConnect } = createClientErrors({ ...options, rateLimit, accessLog });
  const server = createServer(SERVER_OPTIONS, handle);
  server.on('clientError', onParserError).on('connect', onConnect).on('checkExpectation', handle);
  const listener = createListener(server);
  return listener;
}

/** Finds the endpoint of a request, and sets it in the context with the parameters in its path. */
function createRouter(endpoints: readonly Endpoint[]) {
  const router = findMyWay({ maxParamLength: MAX_URL_BYTES });
  for (const endpoint of endpoints) router.on('GET', endpoint.url, () => undefined, endpoint);
  return (context: RequestContext): Endpoint | undefined => {
    const found = router.find('GET', context.target.path);
    if (found === null) return undefined;
    context.endpoint = found.store as Endpoint;
    context.pathParameters = found.params;
    return context.endpoint;
  };
}
