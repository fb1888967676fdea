import { AppError } from '../../domain/errors.ts';
import type { HttpResponse } from '../../lib/http-client.ts';
import { firstAt, isJsonObject, type JsonObject } from './json.ts';

/** A well-formed answer of the API: the thing asked for, or why there is none (`INVALID_ARGUMENT`, `NOT_FOUND`, …). */
export type ApiAnswer =
  | { readonly kind: 'object'; readonly body: JsonObject }
  | { readonly kind: 'refusal'; readonly status: number; readonly reason: string };

/**
 * Reads an API answer.
 *
 * @throws AppError `upstream_unavailable` where upstream did not let us ask (429, 403, a redirect, HTML with whatever
 * status: consent, "sorry" and captcha pages) or failed (5xx); `upstream_invalid` for anything else that is no JSON object.
 */
export function readApiAnswer(response: HttpResponse): ApiAnswer {
  throwIfUnavailable(response);
  const body = parseJsonObject(response.body);
  if (response.status >= 200 && response.status < 300) return { kind: 'object', body };
  const reason = firstAt(body, 'error.status');
  return { kind: 'refusal', status: response.status, reason: typeof reason === 'string' ? reason : '' };
}

/** @throws AppError `upstream_unavailable` when an answer of whatever kind says that we may not or cannot ask. */
export function throwIfUnavailable(response: HttpResponse, expected: 'json' | 'xml' = 'json'): void {
  const { status } = response;
  if (status === 429 || status === 403 || status === 401) throw blocked(response, `status ${status}`);
  if (status >= 300 && status < 400) throw blocked(response, `redirect to ${response.headers.location ?? 'nowhere'}`);
  if (status >= 500) {
    throw new AppError('upstream_unavailable', 'The video site failed to answer.', {
      cause: new Error(`status ${status}`),
    });
  }
  if (expected === 'json' && isMarkup(response)) throw blocked(response, `HTML with status ${status}`);
}

function isMarkup({ body }: HttpResponse): boolean {
  return body.subarray(0, 64).toString('utf8').trimStart().startsWith('<');
}

function blocked({ headers }: HttpResponse, what: string): AppError {
  const seconds = Number(headers['retry-after']);
  return new AppError('upstream_unavailable', 'The video site refuses to answer this service at the moment.', {
    cause: new Error(what),
    ...(seconds > 0 && Number.isFinite(seconds) ? { retryAfterMs: seconds * 1_000 } : {}),
  });
}

function parseJsonObject(bytes: Buffer): JsonObject {
  let value: unknown;
  try {
    value = JSON.parse(bytes.toString('utf8'));
  } catch (cause) {
    throw invalid('The video site sent an answer that is cut short or not JSON.', cause);
  }
  if (!isJsonObject(value)) throw invalid('The video site sent JSON of an unknown shape.');
  return value;
}

export function invalid(message: string, cause?: unknown): AppError {
  return new AppError('upstream_invalid', message, { cause });
}

export function channelNotFound(cause: string): AppError {
  return new AppError('channel_not_found', 'There is no such channel.', { cause: new Error(cause) });
}
