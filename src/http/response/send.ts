import type { OutgoingHttpHeader, ServerResponse } from 'node:http';
import type { CacheOutcome, ErrorCode } from '../../domain/errors.ts';
import type { Exchange } from '../request/context.ts';
import type { Validators } from './conditional.ts';

declare module 'fastify' {
  interface FastifyRequest {
    exchange: Exchange;
  }
  interface FastifyReply {
    /** Sends the answer, with what every answer carries. */
    answer(answer: Answer): void;
  }
}

export interface Failure {
  readonly code: ErrorCode;
  readonly error: unknown;
}

/** An answer as data; what every answer carries is added when it is sent. */
export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | Buffer;
  /** How the characters of a text become bytes. Default: UTF-8. */
  readonly bodyEncoding?: 'latin1';
  /** How a looked-up value came about, for metrics and the log. */
  readonly cache?: CacheOutcome['kind'];
  /** Set where the failure is not the client's, for the log. */
  readonly failure?: Failure;
  /** Set where the answer may be given again as it is, for a moment: the same request finds nothing else. */
  readonly repeatableBy?: Validators;
}

/** On every answer of the public listener: any page may read any of them. */
export const COMMON_HEADERS = {
  'access-control-allow-origin': '*',
  'access-control-expose-headers':
    'RateLimit-Policy, RateLimit, X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, ETag, Retry-After, Cache-Status, X-Request-Id',
  'cross-origin-resource-policy': 'cross-origin',
  'timing-allow-origin': '*',
  'x-content-type-options': 'nosniff',
} as const;

export const ALLOWED_METHODS = 'GET, HEAD, OPTIONS';

/** A preflight's answer; browsers may remember it for a day. */
export const PREFLIGHT: Answer = {
  status: 204,
  headers: {
    allow: ALLOWED_METHODS,
    'access-control-allow-methods': ALLOWED_METHODS,
    'access-control-allow-headers': '*',
    'access-control-max-age': '86400',
  },
};

/**
 * Writes the answer past Fastify's own reply: the headers are complete and the body is bytes, so its serializers and
 * header merging would only cost time on the hot path (measured by `npm run bench`).
 */
export function writeAnswer(response: ServerResponse, exchange: Exchange, answer: Answer): void {
  const { status, headers, body, bodyEncoding = 'utf8' } = answer;
  const fields: (string | number)[] = [...COMMON_FIELDS, 'x-request-id', exchange.id];
  pushFields(fields, exchange.admission?.headers);
  pushFields(fields, headers);
  if (exchange.isNegotiated) fields.push('vary', 'Accept');
  if (exchange.isLast) fields.push('connection', 'close');
  if (body !== undefined) fields.push('content-length', Buffer.byteLength(body, bodyEncoding));
  response.writeHead(status, fields as OutgoingHttpHeader[]);
  response.end(body, bodyEncoding);
  // Node's own limit for idle connections would be set and cleared with every request: 6 % of a hot answer's time.
  if (response.writableLength > 0) exchange.request.socket.setTimeout(READER_PATIENCE_MS);
}

/** A client that takes nothing of its answer for that long is let go; once the answer is gone, keep-alive's time counts. */
const READER_PATIENCE_MS = 100_000;

const COMMON_FIELDS = Object.entries(COMMON_HEADERS).flat();

/** Names and values in turn: Node writes such a list as it stands, while it would sort an object's out first. */
function pushFields(fields: (string | number)[], headers: Readonly<Record<string, string>> = {}): void {
  for (const name in headers) fields.push(name, headers[name] as string);
}

/** `Cache-Status` (RFC 9211) of a looked-up answer. */
export function cacheStatusOf({ kind, ttlMs, isStored, isCollapsed, reason }: CacheOutcome): string {
  const ttlSeconds = Math.round(ttlMs / 1000);
  if (kind === 'hit') return `pennant; hit; ttl=${ttlSeconds}`;
  if (kind === 'stale') return `pennant; hit; ttl=${ttlSeconds}; detail="${reason ?? 'stale'}"`;
  const forwarded = kind === 'miss' ? 'uri-miss' : 'stale';
  return `pennant; fwd=${forwarded}${isStored ? '; stored' : ''}${isCollapsed ? '; collapsed' : ''}`;
}

const STALE_MAX_AGE_SECONDS = 60;

/** `max-age` is what is left of the value's own freshness; an old value goes out for a minute. */
export function cacheControlOf({ kind, ttlMs }: CacheOutcome): string {
  const seconds = kind === 'stale' ? STALE_MAX_AGE_SECONDS : Math.max(0, Math.round(ttlMs / 1000));
  return `public, max-age=${seconds}`;
}
