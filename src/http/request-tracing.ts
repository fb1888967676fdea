import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { runInSpan, type Span } from '../lib/tracing/span.ts';
import type { TraceParent, Tracing } from '../lib/tracing/tracing.ts';
import type { ClientIdentification } from './client-ip.ts';

export interface RequestTracingOptions {
  readonly tracing: Tracing;
  readonly clients: ClientIdentification;
  readonly schemeOf: (request: FastifyRequest) => string;
}

/**
 * Makes each request a span, from its header section to the last byte of its answer. Must come before the other hooks:
 * what they do belongs to it.
 *
 * `traceparent` is read from trusted proxies only: with it a stranger could have everything sampled, or put foreign
 * spans into somebody's trace.
 */
export function addRequestTracing(app: FastifyInstance, options: RequestTracingOptions): void {
  const { tracing, clients, schemeOf } = options;

  function parentOf({ headers, raw }: FastifyRequest): TraceParent | undefined {
    const { traceparent, tracestate } = headers as Readonly<Record<string, string | undefined>>;
    if (traceparent === undefined || !clients.isTrustedProxy(raw.socket.remoteAddress ?? '')) return undefined;
    return { traceparent, tracestate };
  }

  app.addHook('onRequest', (request, reply, next) => {
    const span = tracing.startRequest(nameOf(request), parentOf(request));
    if (span === undefined) {
      next();
      return;
    }
    request.span = span;
    reply.raw.once('close', () => finish(span, request, reply));
    runInSpan(span, next);
  });

  function finish(span: Span, request: FastifyRequest, reply: FastifyReply): void {
    const { statusCode, headersSent, writableFinished } = reply.raw;
    // Never ended, never sent: a flood of them would push everything else out of the queue. Metrics count them.
    if (headersSent && statusCode === REFUSED) return;
    span.setAttributes({
      'http.request.method': methodOf(request),
      'http.request.method_original': isKnownMethod(request.method) ? undefined : request.method,
      'http.route': routeOf(request),
      'http.response.status_code': headersSent ? statusCode : undefined,
      'network.protocol.version': request.raw.httpVersion,
      'url.path': request.target.path,
      'url.scheme': schemeOf(request),
      ...serverOf(request),
      'pennant.request_id': request.id,
      'pennant.client_gone': writableFinished ? undefined : true,
    });
    span.end();
  }
}

const REFUSED = 429;

/** Without the query: it holds what people look for. */
function serverOf(request: FastifyRequest) {
  const url = URL.parse(`http://${request.target.authority ?? request.headers.host ?? ''}`);
  if (url === null) return {};
  return { 'server.address': url.hostname, 'server.port': url.port === '' ? undefined : Number(url.port) };
}

/** Others are `_OTHER` by the conventions: anybody can make names up. */
const KNOWN_METHODS = ['GET', 'HEAD', 'OPTIONS', 'POST', 'PUT', 'PATCH', 'DELETE', 'TRACE', 'CONNECT'];

function isKnownMethod(method: string): boolean {
  return KNOWN_METHODS.includes(method);
}

function methodOf({ method }: FastifyRequest): string {
  return isKnownMethod(method) ? method : '_OTHER';
}

/** As the router knows it; none for what it does not know. */
function routeOf(request: FastifyRequest): string | undefined {
  return request.is404 ? undefined : request.routeOptions.url;
}

function nameOf(request: FastifyRequest): string {
  const method = isKnownMethod(request.method) ? request.method : 'HTTP';
  const route = routeOf(request);
  return route === undefined ? method : `${method} ${route}`;
}
