import { randomBytes } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { AppError } from '../../domain/errors.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Span } from '../../lib/tracing.ts';
import type { HttpResponse } from '../response/response.ts';
import { type BaseUrls, parseTarget, type RequestTarget } from './target.ts';

/** Whom a request counts for. */
export interface Client {
  /** Canonical. The socket's own text when that is no address (a Unix socket). */
  readonly address: string;
  /** What one subscriber's addresses share: an IPv4 address (also inside a NAT64 one), or an IPv6 network (`2001:db8::/64`). */
  readonly key: string;
}

/** Everything that the request pipeline knows about one request. */
export interface RequestContext {
  readonly id: string;
  /** Monotonic. */
  readonly receivedAtMs: number;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly target: RequestTarget;
  /** As the client sees it. */
  readonly scheme: 'http' | 'https';
  /** The name and port that the client asks for. Empty for a request without exactly one `Host`. */
  readonly authority: string;
  /** The origin that URLs in the response start with. Empty when it is unknown. */
  readonly base: string;
  /** True when the connection closes after the response. */
  readonly isLast: boolean;
  client: Client;
  /** `RateLimit…` fields of the response. */
  limitHeaders: Readonly<Record<string, string>>;
  /** The latest change (`lib/work.ts`) before the first look-up for this request. */
  changeBefore: number;
  /** Set when the response may go into the micro-cache. */
  microCacheKey: string | undefined;
  endpoint: Endpoint | undefined;
  pathParameters: PathParameters;
  /** The parameters as the endpoint reads them. */
  input: unknown;
  /** True when the response's format follows `Accept`. Errors then carry `Vary` too. */
  isNegotiated: boolean;
  /** Set when the request is traced. */
  span: Span | undefined;
}

/**
 * A step of the request pipeline. Returns the response, or nothing when the next step decides.
 *
 * @throws AppError when the request is refused
 */
export type Step = (context: RequestContext) => HttpResponse | undefined | Promise<HttpResponse | undefined>;

/** Decoded. */
export type PathParameters = Readonly<Record<string, string | undefined>>;

/** What is served under one URL pattern, for GET, HEAD and OPTIONS. */
export interface Endpoint<Path = unknown, Input = unknown> {
  /** In find-my-way's notation: `/api/channel/:identifier`. */
  readonly url: string;
  /** Reads the path alone. Preflights get its errors too. */
  parsePath(parameters: PathParameters): Path;
  /** Adds the query and the header fields. */
  parseInput(path: Path, context: RequestContext): Input;
  respond(input: Input, context: RequestContext): HttpResponse | Promise<HttpResponse>;
}

export interface ContextOptions {
  readonly clock: Clock;
  readonly clients: { isTrustedProxy(socketAddress: string): boolean };
  readonly baseUrls: BaseUrls;
  readonly nextRequestId: () => string;
  /** True while the listener stops. */
  readonly isClosing: () => boolean;
}

const UNKNOWN_CLIENT: Client = { address: '', key: '' };
const NO_HEADERS = {};

/** Makes the context of a request when its header section has arrived. Never throws: steps report what is wrong. */
export function createContextFactory(options: ContextOptions) {
  const { clock, clients, baseUrls, nextRequestId, isClosing } = options;

  function schemeOf({ headers, socket }: IncomingMessage): 'http' | 'https' {
    const forwarded = headers['x-forwarded-proto'];
    const isHttps = forwarded === 'https' && clients.isTrustedProxy(socket.remoteAddress ?? '');
    return isHttps ? 'https' : 'http';
  }

  return (request: IncomingMessage, response: ServerResponse): RequestContext => {
    const target = parseTarget(request.url ?? '/');
    const scheme = schemeOf(request);
    const authority = countHosts(request.rawHeaders) === 1 ? (target.authority ?? request.headers.host ?? '') : '';
    return {
      id: nextRequestId(),
      receivedAtMs: clock.monotonic(),
      request,
      response,
      target,
      scheme,
      authority,
      base: baseUrls.find(authority, scheme) ?? baseUrls.fallback,
      isLast: isClosing() || isLastAfterUpgrade(request),
      client: UNKNOWN_CLIENT,
      limitHeaders: NO_HEADERS,
      changeBefore: 0,
      microCacheKey: undefined,
      endpoint: undefined,
      pathParameters: NO_HEADERS,
      input: undefined,
      isNegotiated: false,
      span: undefined,
    };
  };
}

/** IDs for logs and responses: a random start for each process, and a number. */
export function createRequestIds(): () => string {
  const prefix = randomBytes(9).toString('base64url');
  let count = 0;
  return () => {
    count += 1;
    return `${prefix}-${count.toString(36)}`;
  };
}

/** A signal that is aborted when the client disconnects before it has its response. */
export function disconnectSignal({ request }: RequestContext): AbortSignal {
  const controller = new AbortController();
  const { socket } = request;
  const onClose = () => controller.abort(new AppError('request_timeout', 'The client has gone away.'));
  socket.once('close', onClose);
  request.once('close', () => socket.off('close', onClose));
  return controller.signal;
}

/** Counts in the raw fields: Node joins or drops repeated ones. An empty field names no host. */
function countHosts(rawHeaders: readonly string[]): number {
  let hosts = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] ?? '';
    if (name.length === 4 && name.toLowerCase() === 'host' && rawHeaders[at + 1] !== '') hosts += 1;
  }
  return hosts;
}

/** What Node keeps on a socket. There are no public names for it. */
interface HttpSocket extends Socket {
  readonly parser?: { getCurrentBuffer?(): Buffer } | null;
}

/**
 * True when an ignored `Upgrade` (RFC 9110 section 7.8) makes this the last request of its connection.
 *
 * Node's parser stops after such a request and drops the rest of the packet. A request that was pipelined there would
 * be lost, and the client would take the next response for it. Closing the connection tells the client to send it again.
 */
function isLastAfterUpgrade(request: IncomingMessage): boolean {
  return request.headers.upgrade !== undefined && !isWholePacket(request);
}

function isWholePacket({ method, url, headers, socket }: IncomingMessage): boolean {
  if (headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined) return false;
  const packet = (socket as HttpSocket).parser?.getCurrentBuffer?.();
  if (packet === undefined) return false;
  const start = `${method} ${url} `;
  return packet.toString('latin1', 0, start.length) === start && packet.indexOf('\r\n\r\n') === packet.length - 4;
}
