import type { IncomingHttpHeaders } from 'node:http';
import { PassThrough, type Readable, type Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import type { Dispatcher, errors } from 'undici';
import { AppError } from '../../domain/errors.ts';
import { type Clock, systemClock } from '../clock.ts';
import { withDeadline } from '../deadlines.ts';
import { AddressRefusedError, createPublicLookup } from './address-check.ts';
import { limitReceivedBytes, limitResponses } from './response-limits.ts';

export interface HttpRequest {
  readonly method: 'GET' | 'POST';
  /** Absolute. Its origin must be allowed. */
  readonly url: string;
  /** Lower-case names. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** The time limit of this attempt: connection, headers and body together. */
  readonly timeoutMs: number;
  /** Counted after decompression. A longer body is an error. */
  readonly maxBytes: number;
  readonly signal: AbortSignal;
}

export interface HttpResponse {
  readonly status: number;
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

/**
 * Outgoing HTTP. A response of any status is a result. Rejects with `AppError` `upstream_timeout` (no complete response in
 * time), `upstream_unavailable` (refused, DNS, reset before a response, address not allowed, redirect to another origin) or
 * `upstream_invalid` (too long, incomplete, too many redirects).
 */
export interface HttpClient {
  request(request: HttpRequest): Promise<HttpResponse>;
  close(): Promise<void>;
}

/**
 * No connection, or one that broke before a response. Only this failure justifies an immediate retry. With
 * `upstream_timeout`, no connection was accepted in time.
 */
export class ConnectionError extends AppError {
  override name = 'ConnectionError';
}

/** A redirect to a host that is not allowed: a consent page, a captcha or a "sorry" page, not a response to the request. */
export class ForeignRedirectError extends AppError {
  override name = 'ForeignRedirectError';
}

interface HttpClientOptions {
  /** Of an origin, `https://host`. Its host name must resolve to public addresses. */
  readonly isAllowed: (origin: string) => boolean;
  /** The operator's own origins: plain http and private addresses are allowed. */
  readonly privateOrigins?: readonly string[];
  /** Follows redirects of a GET within the allowed origins; otherwise a redirect is returned like any other response. */
  readonly followRedirects: boolean;
  readonly userAgent: string;
  /** Default: the system's clock. */
  readonly clock?: Clock;
}

/** How long opening a connection may take. An abandoned request keeps its half-open connection for this long. */
const CONNECT_TIMEOUT_MS = 5_000;
const MAX_REDIRECTS = 3;
const REDIRECTS = new Set([301, 302, 303, 307, 308]);

/**
 * How long an idle connection is kept, unless the upstream names a shorter time. A new one takes two or three round trips
 * (TCP, TLS). Routers forget idle connections after five minutes and more.
 */
const KEPT_ALIVE_MS = 60_000;

export function createHttpClient(options: HttpClientOptions): HttpClient {
  const { clock = systemClock, privateOrigins = [] } = options;
  // A literal address is not resolved. It is reachable only if its origin is allowed.
  const isAllowed = ({ origin }: URL) => options.isAllowed(origin) || privateOrigins.includes(origin);
  let agent: Dispatcher | undefined;

  async function send(request: HttpRequest, url: URL, signal: AbortSignal): Promise<Dispatcher.ResponseData> {
    // Loaded with the first call, because loading it takes a tenth of the start time.
    const undici = await import('undici');
    agent ??= new undici.Agent({
      connect: limitReceivedBytes(
        undici.buildConnector({
          lookup: createPublicLookup(new Set(privateOrigins.map((origin) => new URL(origin).hostname))),
          timeout: CONNECT_TIMEOUT_MS,
          // With HTTP/1.1, an abort closes only the request's own socket.
          allowH2: false,
        }),
      ),
      // The deadline covers the whole attempt.
      headersTimeout: 0,
      bodyTimeout: 0,
      keepAliveTimeout: KEPT_ALIVE_MS,
    }).compose(limitResponses);
    try {
      return await undici.request(url, {
        dispatcher: agent,
        method: request.method,
        headers: { 'user-agent': options.userAgent, 'accept-encoding': 'gzip', ...request.headers },
        body: request.body ?? null,
        signal,
      });
    } catch (error) {
      throw translateSendError(error, undici.errors);
    }
  }

  async function follow(request: HttpRequest, signal: AbortSignal): Promise<HttpResponse> {
    let url = new URL(request.url);
    if (!isAllowed(url)) throw new AppError('upstream_unavailable', 'This upstream address is not allowed.');
    for (let redirects = 0; redirects <= MAX_REDIRECTS; redirects += 1) {
      const target = await sendOnce(request, url, signal);
      if (!(target instanceof URL)) return target;
      if (!isAllowed(target)) {
        throw new ForeignRedirectError(
          'upstream_unavailable',
          'The upstream redirected to a host that is not allowed.',
        );
      }
      url = target;
    }
    throw new AppError('upstream_invalid', 'The upstream redirected too often.');
  }

  /** Sends one request. Returns the complete response or the redirect target. */
  async function sendOnce(request: HttpRequest, url: URL, signal: AbortSignal): Promise<HttpResponse | URL> {
    const response = await send(request, url, signal);
    const target = options.followRedirects && request.method === 'GET' ? findRedirect(response, url) : undefined;
    if (target === undefined) return read(response, request.maxBytes);
    discardBody(response.body);
    return target;
  }

  return {
    request: (request) => withDeadline(clock, request.timeoutMs, request.signal, (signal) => follow(request, signal)),
    close: async () => agent?.destroy(),
  };
}

function findRedirect(response: Dispatcher.ResponseData, base: URL): URL | undefined {
  if (!REDIRECTS.has(response.statusCode)) return undefined;
  const location = flatten(response.headers).location ?? '';
  const target = URL.parse(location, base.href);
  if (location === '' || target === null) {
    throw new AppError('upstream_invalid', 'The upstream redirected without a location.');
  }
  return target;
}

/** By content encoding. */
const DECODERS: ReadonlyMap<string, () => Transform> = new Map([
  ['', () => new PassThrough()],
  ['identity', () => new PassThrough()],
  ['gzip', createGunzip],
  ['x-gzip', createGunzip],
  ['deflate', createInflate],
  ['br', createBrotliDecompress],
]);

/**
 * Reads the body to its end and decodes its content encoding. Any failure destroys the stream and its socket.
 *
 * @param maxBytes counted after decompression, so that a small response cannot expand to a large one
 */
async function read({ statusCode, headers, body }: Dispatcher.ResponseData, maxBytes: number): Promise<HttpResponse> {
  const flat = flatten(headers);
  const createDecoder = DECODERS.get((flat['content-encoding'] ?? '').trim().toLowerCase());
  if (createDecoder === undefined) {
    discardBody(body);
    throw new AppError('upstream_invalid', 'The upstream response has an encoding that was not requested.');
  }
  const chunks: Buffer[] = [];
  let bytes = 0;
  const collect = async (source: AsyncIterable<Buffer>): Promise<void> => {
    for await (const chunk of source) {
      bytes += chunk.length;
      if (bytes > maxBytes) throw new AppError('upstream_invalid', 'The upstream response is too large.');
      chunks.push(chunk);
    }
  };
  try {
    await pipeline(body, createDecoder(), collect);
  } catch (error) {
    if (error instanceof AppError) throw error;
    throw new AppError('upstream_invalid', 'The upstream response was incomplete or damaged.', { cause: error });
  }
  return { status: statusCode, headers: flat, body: Buffer.concat(chunks, bytes) };
}

/** Discards a response that is not read, and closes its socket. */
function discardBody(body: Readable): void {
  // A stream that is destroyed before its end reports that as an error, and one without a listener ends the process.
  body.on('error', () => undefined).destroy();
}

function flatten(headers: IncomingHttpHeaders): Record<string, string> {
  const flat: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined) flat[name] = Array.isArray(value) ? value.join(', ') : value;
  }
  return flat;
}

function translateSendError(error: unknown, undiciErrors: typeof errors): unknown {
  if (error instanceof AppError || error instanceof undiciErrors.InvalidArgumentError) return error;
  if (error instanceof AddressRefusedError) {
    return new AppError('upstream_unavailable', 'This upstream address is not allowed.', { cause: error });
  }
  if (error instanceof undiciErrors.HTTPParserError || error instanceof undiciErrors.HeadersOverflowError) {
    return new AppError('upstream_invalid', 'The upstream response is not valid HTTP.', {
      cause: error,
      scope: 'upstream',
    });
  }
  if (error instanceof undiciErrors.ConnectTimeoutError) {
    return new ConnectionError('upstream_timeout', 'The upstream did not accept a connection in time.', {
      cause: error,
    });
  }
  return new ConnectionError('upstream_unavailable', 'The upstream could not be reached.', { cause: error });
}

/** The longest accepted `Retry-After`. */
const MAX_MS = 3_600_000;

/** One of the two forms of RFC 9110, section 10.2.3; the other is a number of seconds. */
const HTTP_DATE = /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/;

/**
 * The time that an upstream tells clients to wait, in milliseconds, at most an hour. A date counts from the response's own `Date`,
 * so that no clock needs to be correct. `undefined` if the field is absent or invalid.
 */
export function readRetryAfterMs(headers: Readonly<Record<string, string>>): number | undefined {
  const text = headers['retry-after'] ?? '';
  const ms = /^\d+$/.test(text) ? Number(text) * 1000 : dateOf(text) - dateOf(headers.date ?? '');
  return ms > 0 ? Math.min(ms, MAX_MS) : undefined;
}

function dateOf(text: string): number {
  return HTTP_DATE.test(text) ? Date.parse(text) : Number.NaN;
}
