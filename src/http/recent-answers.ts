import type { FastifyRequest } from 'fastify';
import { LRUCache } from 'lru-cache';
import type { Clock } from '../lib/clock.ts';
import type { Answer } from './answer.ts';
import { isNotModified, type Validators } from './conditional.ts';

/** Answers that were just given, ready to be given again: what is hot costs one look-up. */
export interface RecentAnswers {
  /** The answer for an equal request, or 304 where the client has it already. */
  find(request: FastifyRequest): Answer | undefined;
  keep(request: FastifyRequest, answer: Answer): void;
}

export interface RecentAnswersOptions {
  readonly clock: Clock;
  /** Everything of a request, beside its target and `Accept`, that changes the answer. */
  readonly baseOf: (request: FastifyRequest) => string;
}

/** As exact as `max-age` is: whole seconds. */
const REPEATABLE_MS = 1_000;
const MAX_BYTES = 16 * 1024 * 1024;
const ENTRY_OVERHEAD_BYTES = 1_000;

interface RecentAnswer {
  readonly answer: Answer;
  readonly validators: Validators;
  readonly isNegotiated: boolean;
  readonly untilMs: number;
}

export function createRecentAnswers({ clock, baseOf }: RecentAnswersOptions): RecentAnswers {
  const recent = new LRUCache<string, RecentAnswer>({
    maxSize: MAX_BYTES,
    sizeCalculation: ({ answer }) => ENTRY_OVERHEAD_BYTES + (answer.body?.length ?? 0),
  });

  function keyOf(request: FastifyRequest): string {
    const { path, query } = request.target;
    return `${baseOf(request)}${path}${query} ${request.headers.accept ?? ''}`;
  }

  return {
    find(request) {
      const found = recent.get(keyOf(request));
      if (found === undefined || found.untilMs <= clock.monotonic()) return undefined;
      request.isNegotiated = found.isNegotiated;
      return isNotModified(request.headers, found.validators) ? notModified(found.answer) : found.answer;
    },

    keep(request, answer) {
      // Without `repeatableBy` it is not kept once more when it is given again: it would never grow old.
      const { repeatableBy: validators, ...repeated } = answer;
      if (validators === undefined) return;
      const untilMs = clock.monotonic() + REPEATABLE_MS;
      recent.set(keyOf(request), { answer: repeated, validators, isNegotiated: request.isNegotiated, untilMs });
    },
  };
}

/** Without what describes the body (RFC 9110 section 15.4.5). */
function notModified({ headers, cache }: Answer): Answer {
  const kept = Object.entries(headers).filter(([name]) => !name.startsWith('content-'));
  return { status: 304, headers: Object.fromEntries(kept), ...(cache !== undefined && { cache }) };
}
