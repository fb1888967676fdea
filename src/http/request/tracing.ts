import type { ServerResponse } from 'node:http';
import type { Span } from '../../lib/tracing/span.ts';
import type { TraceParent, Tracing } from '../../lib/tracing/tracing.ts';
import type { ClientIdentification } from './client-address.ts';
import type { Exchange } from './context.ts';

export interface RequestTracing {
  /** `undefined` for a request that is not sampled. */
  start(exchange: Exchange, response: ServerResponse): Span | undefined;
}

export interface RequestTracingOptions {
  readonly tracing: Tracing;
  readonly clients: ClientIdentification;
}

/**
 * Makes each request a span, from its header section to the last byte of its answer.
 *
 * `traceparent` is read from trusted proxies only: with it a stranger could have everything sampled, or put foreign
 * spans into somebody's trace.
 */
export function createRequestTracing({ tracing, clients }: RequestTracingOptions): RequestTracing {
  function parentOf({ request: { headers, socket } }: Exchange): TraceParent | undefined {
    const { traceparent, tracestate } = headers as Readonly<Record<string, string | undefined>>;
    if (traceparent === undefined || !clients.isTrustedProxy(socket.remoteAddress ?? '')) return undefined;
    return { traceparent, tracestate };
  }

  function finish(span: Span, exchange: Exchange, response: ServerResponse): void {
    const { statusCode, headersSent, writableFinished } = response;
    // Never ended, never sent: a flood of them would push everything else out of the queue. Metrics count them.
    if (headersSent && statusCode === REFUSED) return;
    const { request, route, target } = exchange;
    const method = request.method ?? '';
    if (route !== undefined) span.rename(`${nameOf(method)} ${route}`);
    span.setAttributes({
      'http.request.method': isKnownMethod(method) ? method : '_OTHER',
      'http.request.method_original': isKnownMethod(method) ? undefined : method,
      'http.route': route,
      'http.response.status_code': headersSent ? statusCode : undefined,
      'network.protocol.version': request.httpVersion,
      'url.path': target.path,
      'url.scheme': exchange.scheme,
      ...serverOf(exchange),
      'pennant.request_id': exchange.id,
      'pennant.client_gone': writableFinished ? undefined : true,
    });
    span.end();
  }

  return {
    start(exchange, response) {
      const span = tracing.startRequest(nameOf(exchange.request.method ?? ''), parentOf(exchange));
      if (span === undefined) return undefined;
      exchange.span = span;
      response.once('close', () => finish(span, exchange, response));
      return span;
    },
  };
}

const REFUSED = 429;

/** Without the query: it holds what people look for. */
function serverOf({ request, target }: Exchange) {
  const url = URL.parse(`http://${target.authority ?? request.headers.host ?? ''}`);
  if (url === null) return {};
  return { 'server.address': url.hostname, 'server.port': url.port === '' ? undefined : Number(url.port) };
}

/** Others are `_OTHER` by the conventions: anybody can make names up. */
const KNOWN_METHODS = ['GET', 'HEAD', 'OPTIONS', 'POST', 'PUT', 'PATCH', 'DELETE', 'TRACE', 'CONNECT'];

function isKnownMethod(method: string): boolean {
  return KNOWN_METHODS.includes(method);
}

/** Until the route is known, and for good where there is none. */
function nameOf(method: string): string {
  return isKnownMethod(method) ? method : 'HTTP';
}
