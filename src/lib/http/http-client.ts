import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { Agent as HttpsAgent, request as requestHttps } from 'node:https';
import { buffer } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { AppError } from '../../domain/errors.ts';
import { type Clock, systemClock } from '../clock.ts';
import { withDeadline } from '../deadlines.ts';

/** Like in `listener.ts`, without WebSocket and fetch. */
const { Agent: HttpAgent, request: requestHttp } = process.getBuiltinModule('node:http');

export interface HttpRequest {
  readonly method: 'GET' | 'POST';
  /** Absolute. */
  readonly url: string;
  /** Lower-case names. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** The time limit of this attempt: connection, headers and body together. */
  readonly timeoutMs: number;
  /** Counted after decompression. A longer body is an error. */
  readonly maxBytes: number;
  readonly signal: AbortSignal;
  /** The URLs to which redirects are followed. Default: none; a redirect is returned like any other response. */
  readonly mayFollow?: (url: URL) => boolean;
}

export interface HttpResponse {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

/**
 * Outgoing HTTP. A response of any status is a result. Rejects with `AppError` `upstream_timeout` (no complete response in
 * time), `upstream_unavailable` (refused, DNS, TLS, reset before a response) or
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

interface HttpClientOptions {
  readonly userAgent: string;
  /** Of HTTPS connections: the environment variables of a proxy, by Node's own rules. Default: none. */
  readonly proxyEnv?: { readonly HTTPS_PROXY: string; readonly NO_PROXY: string } | undefined;
  /** Default: the system's clock. */
  readonly clock?: Clock;
}

const MAX_REDIRECTS = 3;
const REDIRECTS = new Set([301, 302, 303, 307, 308]);

/**
 * How long an idle connection is kept, unless the upstream names a shorter time. A new one takes two or three round trips
 * (TCP, TLS). Routers forget idle connections after five minutes and more.
 */
const KEPT_ALIVE_MS = 60_000;

export function createHttpClient(options: HttpClientOptions): HttpClient {
  const { clock = systemClock, userAgent, proxyEnv } = options;
  const kept = { keepAlive: true, timeout: KEPT_ALIVE_MS };
  const http = { request: requestHttp, agent: new HttpAgent(kept) };
  const https = { request: requestHttps, agent: new HttpsAgent({ ...kept, proxyEnv }) };

  function send(
    { method, headers, body, timeoutMs }: HttpRequest,
    url: URL,
    signal: AbortSignal,
  ): Promise<IncomingMessage> {
    const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
    const { request, agent } = url.protocol === 'http:' ? http : https;
    const sent = { 'user-agent': userAgent, 'accept-encoding': 'gzip', ...headers };
    // An abort does not end a CONNECT of the agent (Node 24), but this time-out does.
    const call = request(url, { agent, method, headers: sent, signal, timeout: timeoutMs });
    const proxy = url.protocol === 'https:' ? proxyEnv?.HTTPS_PROXY : undefined;
    call.on('response', resolve).on('error', (error) => reject(translateSendError(error, proxy)));
    call.end(body);
    return promise;
  }

  async function follow(request: HttpRequest, signal: AbortSignal): Promise<HttpResponse> {
    let url = new URL(request.url);
    for (let redirects = 0; redirects <= MAX_REDIRECTS; redirects += 1) {
      const response = await send(request, url, signal);
      const target = findRedirect(response, url);
      if (target === null || request.mayFollow?.(target) !== true) return read(response, request.maxBytes);
      response.destroy();
      url = target;
    }
    throw invalid('There are too many redirects.');
  }

  return {
    request: (request) => withDeadline(clock, request.timeoutMs, request.signal, (signal) => follow(request, signal)),
    async close() {
      http.agent.destroy();
      https.agent.destroy();
    },
  };
}

function findRedirect({ statusCode = 0, headers: { location } }: IncomingMessage, base: URL): URL | null {
  return REDIRECTS.has(statusCode) && location !== undefined ? URL.parse(location, base.href) : null;
}

/** Reads the body to its end and decodes its content encoding. Any failure destroys the stream and its socket. */
async function read(response: IncomingMessage, maxBytes: number): Promise<HttpResponse> {
  const { statusCode: status = 0, headers } = response;
  const encoding = (headers['content-encoding'] ?? 'identity').trim().toLowerCase();
  const limit = (pieces: AsyncIterable<Buffer>) => limited(pieces, maxBytes);
  try {
    if (encoding === 'identity') {
      const length = Number(headers['content-length']);
      const collect = (pieces: AsyncIterable<Buffer>) => (length <= maxBytes ? fill(length, pieces) : buffer(pieces));
      return { status, headers, body: await pipeline(response, limit, collect) };
    }
    if (encoding !== 'gzip') throw invalid('The encoding of the response was not requested.');
    // Compressed blocks may be empty, and a small response may expand to a large one.
    return { status, headers, body: await pipeline(response, limit, createGunzip(), limit, buffer) };
  } catch (error) {
    response.destroy();
    if (error instanceof AppError) throw error;
    throw new AppError('upstream_invalid', 'The response is incomplete or damaged.', { cause: error });
  }
}

async function* limited(pieces: AsyncIterable<Buffer>, maxBytes: number): AsyncGenerator<Buffer> {
  let bytes = 0;
  for await (const piece of pieces) {
    bytes += piece.length;
    if (bytes > maxBytes) throw invalid(TOO_LARGE);
    yield piece;
  }
}

/** Holds the bytes of a large body once: `buffer` holds them twice at the end. */
async function fill(length: number, pieces: AsyncIterable<Buffer>): Promise<Buffer> {
  const body = Buffer.allocUnsafeSlow(length);
  let bytes = 0;
  for await (const piece of pieces) bytes += piece.copy(body, bytes);
  return body.subarray(0, bytes);
}

const TOO_LARGE = 'The response is too large.';

function invalid(message: string): AppError {
  return new AppError('upstream_invalid', message);
}

/** The codes of Node's HTTP parser. */
const PARSE_ERROR = /^HPE_/;

/** @param proxy which the connection may have used, unless its rules exclude the host */
function translateSendError(error: NodeJS.ErrnoException, proxy: string | undefined): AppError {
  if (error instanceof AppError) return error;
  if (PARSE_ERROR.test(error.code ?? '')) {
    return new AppError('upstream_invalid', 'The response is not valid HTTP.', { cause: error });
  }
  // An origin has no password.
  const how = proxy === undefined ? '' : ` while HTTPS_PROXY is ${new URL(proxy).origin}`;
  return new ConnectionError('upstream_unavailable', `The connection failed${how}.`, { cause: error });
}

/** The longest accepted `Retry-After`. */
const MAX_MS = 3_600_000;

/**
 * The time that an upstream tells clients to wait, in milliseconds, at most an hour. `undefined` if the field is absent or no
 * number of seconds: YouTube sends no date (the other form of RFC 9110, section 10.2.3).
 */
export function readRetryAfterMs(headers: IncomingHttpHeaders): number | undefined {
  const text = headers['retry-after'] ?? '';
  const ms = /^\d+$/.test(text) ? Number(text) * 1000 : 0;
  return ms > 0 ? Math.min(ms, MAX_MS) : undefined;
}
