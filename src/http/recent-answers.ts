import { LRUCache } from 'lru-cache';
import type { Clock } from '../lib/clock.ts';
import type { Answer } from './answer.ts';
import { isNotModified, type Validators } from './conditional.ts';
import type { Exchange } from './exchange.ts';

/** Answers that were just given, ready to be given again: what is hot costs one look-up. */
export interface RecentAnswers {
  /** The answer for an equal request, or 304 where the client has it already. */
  find(exchange: Exchange): Answer | undefined;
  keep(exchange: Exchange, answer: Answer): void;
}

export interface RecentAnswersOptions {
  readonly clock: Clock;
  /** Everything of a request, beside its target and `Accept`, that changes the answer. */
  readonly baseOf: (exchange: Exchange) => string;
}

/** As exact as `max-age` is: whole seconds. */
const REPEATABLE_MS = 1_000;
const MAX_BYTES = 16 * 1024 * 1024;
const ENTRY_OVERHEAD_BYTES = 1_000;

interface RecentAnswer {
  readonly answer: Answer;
  readonly validators: Validators;
  readonly route: string | undefined;
  readonly isNegotiated: boolean;
  readonly untilMs: number;
}

export function createRecentAnswers({ clock, baseOf }: RecentAnswersOptions): RecentAnswers {
  const recent = new LRUCache<string, RecentAnswer>({
    maxSize: MAX_BYTES,
    sizeCalculation: ({ answer }) => ENTRY_OVERHEAD_BYTES + (answer.body?.length ?? 0),
  });

  function keyOf(exchange: Exchange): string {
    const { path, query } = exchange.target;
    return `${baseOf(exchange)}${path}${query} ${exchange.request.headers.accept ?? ''}`;
  }

  return {
    find(exchange) {
      const { request } = exchange;
      if (request.method === 'OPTIONS') return undefined;
      const found = recent.get(keyOf(exchange));
      if (found === undefined || found.untilMs <= clock.monotonic()) return undefined;
      exchange.route = found.route;
      exchange.isNegotiated = found.isNegotiated;
      return isNotModified(request.headers, found.validators) ? notModified(found.answer) : found.answer;
    },

    keep(exchange, answer) {
      if (answer.repeatableBy === undefined) return;
      // Without `repeatableBy` it is not kept once more when it is given again: it would never grow old.
      const { repeatableBy: validators, ...repeated } = answer;
      const { route, isNegotiated } = exchange;
      const untilMs = clock.monotonic() + REPEATABLE_MS;
      recent.set(keyOf(exchange), { answer: encoded(repeated), validators, route, isNegotiated, untilMs });
    },
  };
}

/** The body's bytes, one a character: Node writes such a text as it stands, where it would encode another every time. */
function encoded(answer: Answer): Answer {
  const { body } = answer;
  if (typeof body !== 'string') return answer;
  return { ...answer, body: Buffer.from(body).toString('latin1'), bodyEncoding: 'latin1' };
}

/** Without what describes the body (RFC 9110 section 15.4.5). */
function notModified({ headers, cache }: Answer): Answer {
  const kept = Object.entries(headers).filter(([name]) => !name.startsWith('content-'));
  return { status: 304, headers: Object.fromEntries(kept), ...(cache !== undefined && { cache }) };
}
