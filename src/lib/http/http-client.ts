import { Agent as HttpAgent, type IncomingHttpHeaders, type IncomingMessage, request as requestHttp } from 'node:http';
import { Agent as HttpsAgent, request as requestHttps } from 'node:https';
import { PassThrough, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { AppError } from '../../domain/errors.ts';
import { type Clock, systemClock } from '../clock.ts';
import { withDeadline } from '../deadlines.ts';

export interface HttpRequest {
  readonly method: 'GET' | 'POST';
  /** Absolute. It must be allowed. */
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
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

/**
 * Outgoing HTTP. A response of any status is a result. Rejects with `AppError` `upstream_timeout` (no complete response in
 * time), `upstream_unavailable` (refused, DNS, TLS, reset before a response, address not allowed, redirect to another origin) or
 * `upstream_invalid` (too long, incomplete, too many redirects).
 */
export interface HttpClient {
  request(request: HttpRequest): Promise<HttpResponse>;
  close(): Promise<void>;
}

/** No connection, or one that broke before a response. Only this failure justifies an immediate retry. */
export class ConnectionError extends AppError {
  override name = 'ConnectionError';
}

/** A redirect to a host that is not allowed: a consent page, a captcha or a "sorry" page, not a response to the request. */
export class ForeignRedirectError extends AppError {
  override name = 'ForeignRedirectError';
}

interface HttpClientOptions {
  readonly isAllowed: (url: URL) => boolean;
  /** Follows redirects of a GET to allowed URLs; otherwise a redirect is returned like any other response. */
  readonly followRedirects: boolean;
  readonly userAgent: string;
  /** Default: the system's clock. */
  readonly clock?: Clock;
}

const MAX_REDIRECTS = 3;
/** No known upstream sends more than one (103, RFC 8297). */
const MAX_INTERIM_RESPONSES = 10;
/** A piece of a body costs about the same whatever its length is. A body may begin with this many of any length. */
const FREE_PIECES = 1_000;
const MIN_MEAN_PIECE_BYTES = 64;
const REDIRECTS = new Set([301, 302, 303, 307, 308]);

/**
 * How long an idle connection is kept, unless the upstream names a shorter time. A new one takes two or three round trips
 * (TCP, TLS). Routers forget idle connections after five minutes and more.
 */
const KEPT_ALIVE_MS = 60_000;

export function createHttpClient(options: HttpClientOptions): HttpClient {
  const { clock = systemClock, isAllowed, followRedirects, userAgent } = options;
  const kept = { keepAlive: true, timeout: KEPT_ALIVE_MS };
  const http = { request: requestHttp, agent: new HttpAgent(kept) };
  const https = { request: requestHttps, agent: new HttpsAgent(kept) };

  function send({ method, headers, body }: HttpRequest, url: URL, signal: AbortSignal): Promise<IncomingMessage> {
    const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
    const { request, agent } = url.protocol === 'http:' ? http : https;
    const sent = { 'user-agent': userAgent, 'accept-encoding': 'gzip', ...headers };
    const call = request(url, { agent, method, headers: sent, signal });
    let interimResponses = 0;
    call.on('information', () => {
      interimResponses += 1;
      if (interimResponses >= MAX_INTERIM_RESPONSES)
        call.destroy(invalid('The upstream sent too many interim responses.'));
    });
    call.on('response', resolve).on('error', (error) => reject(translateSendError(error)));
    call.end(body);
    return promise;
  }

  async function follow(request: HttpRequest, signal: AbortSignal): Promise<HttpResponse> {
    let url = new URL(request.url);
    if (!isAllowed(url)) throw new AppError('upstream_unavailable', 'This upstream address is not allowed.');
    for (let redirects = 0; redirects <= MAX_REDIRECTS; redirects += 1) {
      const response = await send(request, url, signal);
      const target = followRedirects && request.method === 'GET' ? findRedirect(response, url) : undefined;
      if (target === undefined) return read(response, request.maxBytes);
      response.destroy();
      if (!isAllowed(target)) {
        throw new ForeignRedirectError(
          'upstream_unavailable',
          'The upstream redirected to a host that is not allowed.',
        );
      }
      url = target;
    }
    throw invalid('The upstream redirected too often.');
  }

  return {
    request: (request) => withDeadline(clock, request.timeoutMs, request.signal, (signal) => follow(request, signal)),
    async close() {
      http.agent.destroy();
      https.agent.destroy();
    },
  };
}

function findRedirect({ statusCode = 0, headers }: IncomingMessage, base: URL): URL | undefined {
  if (!REDIRECTS.has(statusCode)) return undefined;
  const target = headers.location ? URL.parse(headers.location, base.href) : null;
  if (target === null) throw invalid('The upstream redirected without a location.');
  return target;
}

/**
 * Reads the body to its end and decodes its content encoding. Any failure destroys the stream and its socket.
 *
 * @param maxBytes counted before and after decompression: a small response cannot expand to a large one, and compressed blocks
 *   may be empty
 */
async function read(response: IncomingMessage, maxBytes: number): Promise<HttpResponse> {
  const { statusCode = 0, headers } = response;
  const encoding = (headers['content-encoding'] ?? 'identity').trim().toLowerCase();
  if (encoding !== 'identity' && encoding !== 'gzip') {
    response.destroy();
    throw invalid('The upstream response has an encoding that was not requested.');
  }
  const chunks: Buffer[] = [];
  let bytes = 0;
  const collect = async (decoded: AsyncIterable<Buffer>): Promise<void> => {
    for await (const chunk of decoded) {
      bytes += chunk.length;
      if (bytes > maxBytes) throw invalid(TOO_LARGE);
      chunks.push(chunk);
    }
  };
  try {
    const decoder = encoding === 'gzip' ? createGunzip() : new PassThrough();
    await pipeline(response, createLimit(maxBytes), decoder, collect);
  } catch (error) {
    if (error instanceof AppError) throw error;
    throw new AppError('upstream_invalid', 'The upstream response was incomplete or damaged.', { cause: error });
  }
  return { status: statusCode, headers, body: Buffer.concat(chunks, bytes) };
}

/** Passes pieces on. Fails when they are too long together, or when they are many and tiny. */
function createLimit(maxBytes: number): Transform {
  let pieces = 0;
  let bytes = 0;
  return new Transform({
    transform(piece: Buffer, _encoding, done) {
      pieces += 1;
      bytes += piece.length;
      const isTiny = pieces > FREE_PIECES && bytes < pieces * MIN_MEAN_PIECE_BYTES;
      if (bytes > maxBytes) done(invalid(TOO_LARGE));
      else if (isTiny) done(invalid('The upstream response came in too many tiny pieces.'));
      else done(null, piece);
    },
  });
}

const TOO_LARGE = 'The upstream response is too large.';

function invalid(message: string): AppError {
  return new AppError('upstream_invalid', message);
}

/** The codes of Node's HTTP parser. */
const PARSE_ERROR = /^HPE_/;

function translateSendError(error: NodeJS.ErrnoException): AppError {
  if (error instanceof AppError) return error;
  if (PARSE_ERROR.test(error.code ?? '')) {
    const options = { cause: error, scope: 'upstream' } as const;
    return new AppError('upstream_invalid', 'The upstream response is not valid HTTP.', options);
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
export function readRetryAfterMs(headers: IncomingHttpHeaders): number | undefined {
  const text = headers['retry-after'] ?? '';
  const ms = /^\d+$/.test(text) ? Number(text) * 1000 : dateOf(text) - dateOf(headers.date ?? '');
  return ms > 0 ? Math.min(ms, MAX_MS) : undefined;
}

function dateOf(text: string): number {
  return HTTP_DATE.test(text) ? Date.parse(text) : Number.NaN;
}
