import type { IncomingMessage } from 'node:http';
import swagger from '@fastify/swagger';
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { AppError } from '../domain/errors.ts';
import type { Clock } from '../lib/clock.ts';
import type { Tracing } from '../lib/tracing/tracing.ts';
import { WITHOUT_SCHEMAS } from '../lib/without-schemas.ts';
import { ALLOWED_METHODS, type Answer, cacheStatusOf, writeAnswer } from './answer.ts';
import type { Answered } from './answered.ts';
import type { BaseUrls } from './base-url.ts';
import type { ClientIdentification } from './client-ip.ts';
import { openApiHead } from './openapi.ts';
import { routeNotFound } from './picture-path.ts';
import { problemAnswer } from './problems.ts';
import type { Admission, RateLimitGate } from './rate-limit.ts';
import { createRecentAnswers } from './recent-answers.ts';
import { findRequestFault } from './request-check.ts';
import { createRequestIds } from './request-id.ts';
import { addRequestTracing } from './request-tracing.ts';
import { addBannerRoutes, type BannerRouteDeps } from './routes/banners.ts';
import { addChannelRoutes, type ChannelRouteDeps } from './routes/channels.ts';
import { addDocumentRoutes, type DocumentRouteDeps } from './routes/documents.ts';
import { addSearchRoute, type SearchRouteDeps } from './routes/search.ts';
import { parseTarget, type RequestTarget } from './target.ts';
import { createUnparsedAnswers } from './unparsed.ts';

export interface HttpServerOptions
  extends Omit<ChannelRouteDeps & BannerRouteDeps & SearchRouteDeps & DocumentRouteDeps, 'baseOf'> {
  readonly gate: RateLimitGate;
  readonly clients: ClientIdentification;
  readonly baseUrls: BaseUrls;
  readonly clock: Clock;
  /** Without it nothing is traced. */
  readonly tracing?: Tracing | undefined;
  /** Told of each answer as it is handed to the socket. */
  readonly onAnswer: (answered: Answered) => void;
  /** Told of each failure that is not the client's. */
  readonly onFailure: (failure: { requestId: string; code: string; status: number; error: unknown }) => void;
  /** Told of a forwarded address from a private one that is not trusted: most likely a proxy that nobody configured. */
  readonly onUntrustedForward: (address: string) => void;
}

const HEADERS_TIMEOUT_MS = 10_000;
const REQUEST_TIMEOUT_MS = 20_000;
/** Longer than nginx keeps its upstream connections (60 s) and clients theirs (75 s), so that the other side closes first. */
const KEEP_ALIVE_TIMEOUT_MS = 80_000;
const CONNECTION_CHECK_MS = 2_000;
const SOCKET_IDLE_TIMEOUT_MS = 100_000;
const MAX_HEADER_BYTES = 24 * 1024;

/** Carries the target from the router, which knows only Node's request, to Fastify's: a WeakMap costs far more. */
const TARGET = Symbol('target');
interface ReadMessage extends IncomingMessage {
  [TARGET]?: RequestTarget;
}

/** The public listener: images and JSON on every answer, whatever comes in. */
export async function createHttpServer(options: HttpServerOptions): Promise<FastifyInstance> {
  const { gate, clients, baseUrls, contact, clock, tracing, onAnswer, onFailure } = options;
  const recentAnswers = createRecentAnswers({ clock, baseOf: baseOrNone });
  const nextRequestId = createRequestIds();

  const app = Fastify({
    logger: false,
    // Paths are checked before parameters, and both before a handler runs: endpoint.ts does that in the given order.
    schemaController: WITHOUT_SCHEMAS,
    genReqId: nextRequestId,
    requestTimeout: REQUEST_TIMEOUT_MS,
    keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS,
    connectionTimeout: SOCKET_IDLE_TIMEOUT_MS,
    forceCloseConnections: 'idle',
    return503OnClosing: false,
    http: {
      headersTimeout: HEADERS_TIMEOUT_MS,
      connectionsCheckingInterval: CONNECTION_CHECK_MS,
      maxHeaderSize: MAX_HEADER_BYTES,
      // Node would answer with an empty body; the check in the first hook answers JSON.
      requireHostHeader: false,
    },
    routerOptions: { maxParamLength: 8_192 },
    rewriteUrl(raw: ReadMessage) {
      const target = parseTarget(raw.url ?? '/');
      raw[TARGET] = target;
      return target.path + target.query;
    },
    clientErrorHandler(error, socket) {
      unparsed.answerParserError(error, socket);
    },
  });

  const unparsed = createUnparsedAnswers({
    gate,
    nextRequestId,
    onAnswer: (answered) => onAnswer({ route: 'unparsed', seconds: 0, method: '', path: '', ...answered }),
  });
  app.server.on('connect', unparsed.answerConnect);
  app.server.on('checkExpectation', (request, response) => app.server.emit('request', request, response));

  app.decorateRequest('target', null as unknown as RequestTarget);
  app.decorateRequest('admission', undefined);
  app.decorateRequest('isNegotiated', false);
  app.decorateRequest('receivedAtMs', 0);
  app.decorateRequest('span', undefined);
  app.decorateReply('answer', function (this: FastifyReply, answer: Answer) {
    writeAnswer(this, answer);
    const { request } = this;
    recentAnswers.keep(request, answer);
    request.span?.setAttributes({ 'pennant.cache.outcome': answer.cache });
    onAnswer({
      route: request.routeOptions.url ?? 'none',
      status: answer.status,
      seconds: (clock.monotonic() - request.receivedAtMs) / 1000,
      requestId: request.id,
      method: request.method,
      path: request.target.path + request.target.query,
      client: request.admission?.client.address ?? '',
      cache: answer.cache,
    });
  });

  if (tracing !== undefined) addRequestTracing(app, { tracing, clients, schemeOf });
  app.addHook('onRequest', (request, reply, next) => {
    request.receivedAtMs = clock.monotonic();
    request.target = (request.raw as ReadMessage)[TARGET] ?? parseTarget(request.raw.url ?? '/');
    const socketAddress = request.raw.socket.remoteAddress ?? 'unknown';
    const forwardedFor = request.headers['x-forwarded-for'] as string | undefined;
    if (forwardedFor !== undefined && !clients.isTrustedProxy(socketAddress)) options.onUntrustedForward(socketAddress);
    const admission = gate.admit(socketAddress, forwardedFor);
    if (admission instanceof Promise) {
      admission.then((decided) => check(decided, request, reply, next), next);
    } else {
      check(admission, request, reply, next);
    }
  });

  app.setErrorHandler((error, request, reply) => fail(error, request, reply));
  app.setNotFoundHandler((request, reply) => fail(routeNotFound(), request, reply));

  function check(admission: Admission, request: FastifyRequest, reply: FastifyReply, next: () => void): void {
    request.admission = admission;
    const fault = admission.isAllowed ? findRequestFault(request.raw, request.target) : tooManyRequests(admission);
    const recent = fault === undefined ? findRecent(request) : undefined;
    if (fault !== undefined) fail(fault, request, reply);
    else if (recent !== undefined) reply.answer(recent);
    else next();
  }

  function findRecent(request: FastifyRequest): Answer | undefined {
    return request.is404 || request.method === 'OPTIONS' ? undefined : recentAnswers.find(request);
  }

  function tooManyRequests({ retryAfterMs, headers }: Admission): AppError {
    const seconds = Math.ceil(retryAfterMs / 1000);
    const more = contact === undefined ? '' : ` Higher limits on request: ${contact}.`;
    const policy = `${headers['x-ratelimit-limit']} requests`;
    return new AppError('rate_limited', `More than ${policy}: wait ${seconds} s.${more}`, { retryAfterMs });
  }

  function fail(error: unknown, request: FastifyRequest, reply: FastifyReply): void {
    // A client that went away while its answer was being made gets none.
    if (reply.raw.headersSent || reply.raw.destroyed) return;
    reply.answer(failureAnswer(error, request));
  }

  function failureAnswer(error: unknown, request: FastifyRequest): Answer {
    const known = error instanceof AppError ? error : internalError(error);
    const answer = problemAnswer(known, { base: baseOrNone(request), requestId: request.id });
    if (answer.status >= 500) {
      request.span?.fail(known.code, known.message);
      onFailure({ requestId: request.id, code: known.code, status: answer.status, error });
    }
    const { outcome } = known;
    const more = {
      ...(answer.status === 405 && { allow: ALLOWED_METHODS }),
      ...(outcome !== undefined && { 'cache-status': cacheStatusOf(outcome) }),
    };
    const headers = { ...answer.headers, ...more };
    return { ...answer, headers, ...(outcome !== undefined && { cache: outcome.kind }) };
  }

  function baseOf(request: FastifyRequest): string {
    const authority = request.target.authority ?? request.headers.host ?? '';
    return baseUrls.baseFor(authority, schemeOf(request));
  }

  function schemeOf(request: FastifyRequest): 'http' | 'https' {
    const forwarded = request.headers['x-forwarded-proto'];
    if (forwarded === undefined || !clients.isTrustedProxy(request.raw.socket.remoteAddress ?? '')) return 'http';
    return forwarded === 'https' ? 'https' : 'http';
  }

  function baseOrNone(request: FastifyRequest): string {
    try {
      return baseOf(request);
    } catch (error) {
      if (error instanceof AppError) return '';
      throw error;
    }
  }

  await app.register(swagger, { openapi: openApiHead(options.version) });
  await app.register(async (routes) => {
    addDocumentRoutes(routes, { ...options, baseOf });
    addChannelRoutes(routes, { ...options, baseOf });
    addSearchRoute(routes, { ...options, baseOf });
    addBannerRoutes(routes, options);
  });
  return app;
}

function internalError(cause: unknown): AppError {
  return new AppError('internal', 'Something went wrong here. Please report it with the request id.', { cause });
}
