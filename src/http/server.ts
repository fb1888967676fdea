import type { IncomingMessage, ServerOptions, ServerResponse } from 'node:http';
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { AppError } from '../domain/errors.ts';
import type { Clock } from '../lib/clock.ts';
import type { Holders } from '../lib/holders.ts';
import { createServer } from '../lib/node-http.ts';
import { failSpan } from '../lib/tracing.ts';
import { WITHOUT_SCHEMAS } from '../lib/without-schemas.ts';
import { describeRoutes } from './openapi/document.ts';
import { createReception } from './reception.ts';
import { acceptFieldStats } from './request/accept.ts';
import type { BaseUrls } from './request/base-url.ts';
import type { ClientIdentification } from './request/client-address.ts';
import { type Exchange, exchangeOf } from './request/context.ts';
import { routeNotFound } from './request/picture-path.ts';
import type { RateLimitGate } from './request/rate-limit.ts';
import { createRequestIds } from './request/request-id.ts';
import { createRequestTracing } from './request/tracing.ts';
import type { Answered } from './response/answered.ts';
import { createUnparsedAnswers } from './response/client-errors.ts';
import { createRecentAnswers } from './response/micro-cache.ts';
import { internalError, problemAnswer } from './response/problems.ts';
import { createRecordBodies } from './response/record-bodies.ts';
import { ALLOWED_METHODS, type Answer, cacheStatusOf, writeAnswer } from './response/send.ts';
import { addBannerRoutes, type BannerRouteDeps } from './routes/banners.ts';
import { addChannelRoutes, type ChannelRouteDeps } from './routes/channels.ts';
import { addDocumentRoutes, type DocumentRouteDeps } from './routes/documents.ts';
import { addSearchRoute, type SearchRouteDeps } from './routes/search.ts';

export interface HttpServerOptions
  extends Omit<ChannelRouteDeps & BannerRouteDeps & SearchRouteDeps & DocumentRouteDeps, 'recordBodies' | 'describe'> {
  readonly gate: RateLimitGate;
  readonly clients: ClientIdentification;
  readonly baseUrls: BaseUrls;
  readonly clock: Clock;
  /** Is told what the listener's caches hold. */
  readonly holders: Holders;
  /** Told of each route, of those without one too, before the first request. */
  readonly onRoute: (route: string) => void;
  /** Told of each answer as it is handed to the socket. */
  readonly onAnswer: (answered: Answered) => void;
  /** Told of a forwarded address from a private one that is not trusted: most likely a proxy that nobody configured. */
  readonly onUntrustedForward: (address: string) => void;
  /** Called for each admitted request, before anything is looked up for it. */
  readonly beforeLookUp?: (() => void) | undefined;
}

const SERVER_OPTIONS: ServerOptions = {
  headersTimeout: 10_000,
  requestTimeout: 20_000,
  // Longer than nginx keeps its upstream connections (60 s) and clients theirs (75 s), so that the other side closes first.
  keepAliveTimeout: 80_000,
  connectionsCheckingInterval: 2_000,
  maxHeaderSize: 24 * 1024,
  // Node would answer with an empty body; the reception's check leads to JSON.
  requireHostHeader: false,
};

/** In the place of a route, of requests that have none and of those that could not be read. */
const NO_ROUTE = 'none';
const UNPARSED = 'unparsed';

/** The public listener: images and JSON on every answer, whatever comes in. */
export function createHttpServer(options: HttpServerOptions): FastifyInstance {
  const { gate, clients, baseUrls, contact, clock, holders, onRoute, onAnswer } = options;
  const recentAnswers = createRecentAnswers({ clock });
  const recordBodies = createRecordBodies({ urlForm: options.urlForm });
  holders.add('micro-cache', () => recentAnswers.stats());
  holders.add('JSON of records', () => recordBodies.stats());
  holders.add('Accept fields', () => acceptFieldStats());
  holders.add('IPv6 addresses', () => clients.stats());
  const nextRequestId = createRequestIds();
  const reception = createReception({
    gate,
    clients,
    baseUrls,
    clock,
    nextRequestId,
    recentAnswers,
    tracing: createRequestTracing({ clients }),
    contact,
    send,
    onUntrustedForward: options.onUntrustedForward,
    beforeLookUp: options.beforeLookUp,
  });

  const app = Fastify({
    logger: false,
    // Paths are checked before parameters, and both before a handler runs: endpoint.ts does that in the given order.
    schemaController: WITHOUT_SCHEMAS,
    serverFactory: (handleByRoute) =>
      createServer(SERVER_OPTIONS, (request, response) =>
        reception.receive(request, response, () => handleByRoute(request, response)),
      ),
    genReqId: (request: IncomingMessage) => exchangeOf(request).id,
    forceCloseConnections: 'idle',
    return503OnClosing: false,
    routerOptions: { maxParamLength: 8_192 },
    rewriteUrl(request: IncomingMessage) {
      const { path, query } = exchangeOf(request).target;
      return path + query;
    },
    clientErrorHandler(error, socket) {
      unparsed.answerParserError(error, socket);
    },
  });

  const unparsed = createUnparsedAnswers({
    gate,
    nextRequestId,
    base: baseUrls.fallback,
    contact,
    onAnswer: (answered) => onAnswer({ route: UNPARSED, seconds: 0, method: '', path: '', ...answered }),
  });
  app.server.on('connect', unparsed.answerConnect);
  app.server.on('checkExpectation', (request, response) => app.server.emit('request', request, response));

  // Fastify would parse a body of OPTIONS; no endpoint takes one, whatever the method.
  app.addHttpMethod('OPTIONS', { hasBody: false, overrideExisting: true });
  app.decorateRequest('exchange', null as unknown as Exchange);
  app.decorateReply('answer', function (this: FastifyReply, answer: Answer) {
    this.hijack();
    send(this.request.exchange, this.raw, answer);
  });

  app.addHook('onRequest', (request, reply, next) => {
    request.exchange = exchangeOf(request.raw);
    request.exchange.route = request.routeOptions.url;
    const { fault } = request.exchange;
    if (fault === undefined) next();
    else fail(fault, request, reply);
  });

  app.setErrorHandler((error, request, reply) => fail(error, request, reply));
  app.setNotFoundHandler((request, reply) => fail(routeNotFound(), request, reply));

  function send(exchange: Exchange, response: ServerResponse, answer: Answer): void {
    writeAnswer(response, exchange, answer);
    recentAnswers.keep(exchange, answer);
    exchange.span?.setAttributes({ 'pennant.cache.outcome': answer.cache });
    onAnswer({
      route: exchange.route ?? NO_ROUTE,
      status: answer.status,
      seconds: (clock.monotonic() - exchange.receivedAtMs) / 1000,
      requestId: exchange.id,
      method: exchange.request.method ?? '',
      path: exchange.target.path + exchange.target.query,
      client: exchange.admission?.client.address ?? '',
      cache: answer.cache,
      failure: answer.failure,
    });
  }

  function fail(error: unknown, request: FastifyRequest, reply: FastifyReply): void {
    // A client that went away while its answer was being made gets none.
    if (reply.raw.headersSent || reply.raw.destroyed) return;
    reply.answer(failureAnswer(error, request.exchange));
  }

  function failureAnswer(error: unknown, exchange: Exchange): Answer {
    const known = error instanceof AppError ? error : internalError(error);
    const answer = problemAnswer(known, { base: exchange.base, requestId: exchange.id });
    const isOurs = answer.status >= 500;
    if (isOurs && exchange.span !== undefined) failSpan(exchange.span, known.code, known.message);
    const { outcome } = known;
    const more = {
      ...(answer.status === 405 && { allow: ALLOWED_METHODS }),
      ...(outcome !== undefined && { 'cache-status': cacheStatusOf(outcome) }),
    };
    const headers = { ...answer.headers, ...more };
    return {
      ...answer,
      headers,
      ...(outcome !== undefined && { cache: outcome.kind }),
      ...(isOurs && { failure: { code: known.code, error } }),
    };
  }

  const routeDeps = {
    ...options,
    recordBodies,
    describe: () => describeRoutes(addRoutes, options.version),
  };
  function addRoutes(routes: FastifyInstance): void {
    addDocumentRoutes(routes, routeDeps);
    addChannelRoutes(routes, routeDeps);
    addSearchRoute(routes, routeDeps);
    addBannerRoutes(routes, options);
  }
  for (const route of [NO_ROUTE, UNPARSED]) onRoute(route);
  app.addHook('onRoute', ({ url }) => onRoute(url));
  addRoutes(app);
  return app;
}
