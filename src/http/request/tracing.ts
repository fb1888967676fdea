import { isSdkLoaded, type Span, startRequestSpan } from '../../lib/tracing.ts';
import type { ContextOptions, RequestContext } from './context.ts';

/** Starts a span for a request, if it is sampled. */
export type RequestTracing = (context: RequestContext) => Span | undefined;

/**
 * Starts a span for each sampled request, from its header section to the last byte of its response. Returns `undefined` if no
 * SDK is loaded.
 *
 * `traceparent` is read from trusted proxies only. Otherwise any client could have every request sampled, or write into
 * other traces.
 */
export function createRequestTracing({ clients }: Pick<ContextOptions, 'clients'>): RequestTracing | undefined {
  if (!isSdkLoaded()) return undefined;

  function finish(span: Span, context: RequestContext): void {
    const { request, response, endpoint, target } = context;
    const { statusCode, headersSent, writableFinished } = response;
    // A flood of refused requests would displace all other spans. A span without an end is not exported. Metrics count these.
    if (headersSent && statusCode === REFUSED) return;
    const route = endpoint?.url;
    const method = request.method ?? '';
    const isKnown = KNOWN_METHODS.has(method);
    if (route !== undefined) span.updateName(`${spanNameOf(method)} ${route}`);
    span.setAttributes({
      'http.request.method': isKnown ? method : '_OTHER',
      'http.request.method_original': isKnown ? undefined : truncated(method),
      'http.route': route,
      'http.response.status_code': headersSent ? statusCode : undefined,
      'network.protocol.version': request.httpVersion,
      'url.path': truncated(target.path),
      'url.scheme': context.scheme,
      ...serverOf(context),
      'pennant.request_id': context.id,
      'pennant.client_gone': writableFinished ? undefined : true,
    });
    span.end();
  }

  return (context) => {
    const { method = '', headers, socket } = context.request;
    const isTrusted = clients.isTrustedProxy(socket.remoteAddress ?? '');
    const span = startRequestSpan(spanNameOf(method), isTrusted ? headers : undefined);
    if (span === undefined) return undefined;
    context.span = span;
    context.response.once('close', () => finish(span, context));
    return span;
  };
}

const REFUSED = 429;

function serverOf({ request, target }: RequestContext) {
  const url = URL.parse(`http://${target.authority ?? request.headers.host ?? ''}`);
  if (url === null) return {};
  return { 'server.address': truncated(url.hostname), 'server.port': url.port === '' ? undefined : Number(url.port) };
}

/** Clients choose the method, the path and `Host`. */
const MAX_ATTRIBUTE_CHARACTERS = 1_024;

function truncated(text: string): string {
  return text.slice(0, MAX_ATTRIBUTE_CHARACTERS);
}

/** By the conventions, every other method is `_OTHER`, because clients can send any name. */
const KNOWN_METHODS = new Set(['GET', 'HEAD', 'OPTIONS', 'POST', 'PUT', 'PATCH', 'DELETE', 'TRACE', 'CONNECT']);

/** The name of a span until the route is known, and if there is none. */
function spanNameOf(method: string): string {
  return KNOWN_METHODS.has(method) ? method : 'HTTP';
}
