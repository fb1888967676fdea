import { AppError } from '../../domain/errors.ts';
import type { BodyReader } from '../../lib/http/body-reader.ts';
import { type HttpResponse, readRetryAfterMs } from '../../lib/http/client.ts';
import type * as readers from './answer-readers.ts';

export type AnswerReader = BodyReader<typeof readers>;

/** Readers of JSON responses. */
export type AnswerName = Exclude<keyof typeof readers, 'feed'>;
export type ValueOf<Name extends AnswerName> = NonNullable<ReturnType<(typeof readers)[Name]>>;

/** A well-formed API response: its value, or the reason why there is none (`INVALID_ARGUMENT`, `NOT_FOUND`, …). */
export type ApiAnswer<Value> =
  | { readonly kind: 'value'; readonly value: Value }
  | { readonly kind: 'refusal'; readonly status: number; readonly reason: string };

/**
 * Reads an API response with the named reader.
 *
 * @throws AppError `upstream_unavailable` if upstream blocked the request (429, 403, a redirect, or HTML with any status:
 * consent, "sorry" and captcha pages) or failed (5xx); `upstream_invalid` for everything else that is not a JSON object.
 */
export async function readApiAnswer<Name extends AnswerName>(
  reader: AnswerReader,
  name: Name,
  response: HttpResponse,
  signal: AbortSignal,
): Promise<ApiAnswer<ValueOf<Name>>> {
  throwIfUnavailable(response);
  const { status, body } = response;
  if (status >= 200 && status < 300) {
    return { kind: 'value', value: requireObject(await reader.read(name, body, signal)) as ValueOf<Name> };
  }
  return { kind: 'refusal', status, reason: requireObject(await reader.read('refusal', body, signal)) };
}

/** @throws AppError `upstream_unavailable` if the response shows that upstream blocks requests or fails. */
export function throwIfUnavailable(response: HttpResponse, expected: 'json' | 'xml' = 'json'): void {
  const { status } = response;
  if (status === 429 || status === 403 || status === 401) throw blocked(response, `status ${status}`);
  if (status >= 300 && status < 400) throw blocked(response, `redirect to ${response.headers.location ?? 'nowhere'}`);
  if (status >= 500) {
    const cause = new Error(`status ${status}`);
    throw new AppError('upstream_unavailable', 'The video site failed to answer.', { cause });
  }
  if (expected === 'json' && isMarkup(response.body)) throw blocked(response, `HTML with status ${status}`);
}

export function isMarkup(body: Buffer): boolean {
  return body.subarray(0, 64).toString('utf8').trimStart().startsWith('<');
}

function blocked({ headers }: HttpResponse, what: string): AppError {
  const retryAfterMs = readRetryAfterMs(headers);
  return new AppError('upstream_unavailable', 'The video site refuses to answer this service at the moment.', {
    cause: new Error(what),
    ...(retryAfterMs !== undefined && { retryAfterMs }),
  });
}

function requireObject<Value>(value: Value | null): Value {
  if (value === null) throw invalid('The video site sent an answer that is incomplete or not a JSON object.');
  return value;
}

/** @throws AppError `channel_not_found` if the refusal says so, `upstream_invalid` for every other refusal */
export function requireFound<Value>(answer: ApiAnswer<Value>, call: string, problem: string): Value {
  if (answer.kind === 'value') return answer.value;
  if (answer.status === 404 && answer.reason === 'NOT_FOUND') throw channelNotFound(`${call}: NOT_FOUND`);
  throw invalid(problem, new Error(answer.reason));
}

export function invalid(message: string, cause?: unknown): AppError {
  return new AppError('upstream_invalid', message, { cause });
}

export function channelNotFound(cause: string): AppError {
  return new AppError('channel_not_found', 'There is no such channel.', { cause: new Error(cause) });
}

/**
 * "This channel does not exist.", "This account has been terminated …" (nine reasons), "This channel was removed
 * because …": wordings seen from 2019 to 2026-07.
 */
const GONE = /does not exist|\bterminated\b|\bremoved\b/i;

/** The error for an alert: "no such channel", or indeterminate for every other text. */
export function alertError(text: string): AppError {
  if (GONE.test(text)) return channelNotFound(text);
  const options = { cause: new Error(text), scope: 'key' } as const;
  return new AppError('upstream_unavailable', 'The video site did not show this channel.', options);
}
