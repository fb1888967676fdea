import type { FastifyRequest } from 'fastify';
import type { CacheOutcome } from '../../domain/errors.ts';
import { findUnchangedEtag } from './conditional.ts';
import { type Answer, cacheControlOf, cacheStatusOf } from './send.ts';

export const JSON_MEDIA_TYPE = 'application/json; charset=utf-8';

export interface JsonBody extends Pick<Answer, 'bodyEncoding'> {
  readonly body: string;
  readonly etag: string;
}

/** The answer for JSON that was looked up: its age, where it came from, and 304 where the client has it already. */
export function lookedUpJson(request: FastifyRequest, outcome: CacheOutcome, { etag, ...body }: JsonBody): Answer {
  const headers = { 'cache-control': cacheControlOf(outcome), 'cache-status': cacheStatusOf(outcome), etag };
  if (findUnchangedEtag(request.headers, { etag }) !== undefined) return { status: 304, headers, cache: outcome.kind };
  const withType = { 'content-type': JSON_MEDIA_TYPE, ...headers };
  const answer = { status: 200, headers: withType, ...body, cache: outcome.kind };
  return outcome.kind === 'hit' ? { ...answer, repeatableBy: { etag } } : answer;
}
