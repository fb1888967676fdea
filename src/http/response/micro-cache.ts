import { LRUCache } from 'lru-cache';
import { latestChange } from '../../lib/change-count.ts';
import type { Clock } from '../../lib/clock.ts';
import { compactCopy } from '../../lib/compact-copy.ts';
import type { HolderStats } from '../../lib/holders.ts';
import type { Exchange } from '../request/context.ts';
import { findUnchangedEtag, type Validators } from './conditional.ts';
import type { Answer } from './send.ts';

/** The micro-cache: responses of the last second, sent again to equal requests. A hot response costs one look-up. */
export interface RecentAnswers {
  /** The answer for an equal request, or 304 where the client has it already. */
  find(exchange: Exchange): Answer | undefined;
  keep(exchange: Exchange, answer: Answer): void;
  stats(): HolderStats;
}

export interface RecentAnswersOptions {
  readonly clock: Clock;
  readonly maxBytes?: number;
}

/** As exact as `max-age` is: whole seconds. */
const REPEATABLE_MS = 1_000;
const DEFAULT_MAX_BYTES = 16 * 1024 * 1024;
/** Browsers send `Accept` fields of some 150 characters; a search text of 100 escaped code points takes 1,200. */
const MAX_KEY_CHARACTERS = 2_000;
/** The objects of an entry and of its header fields, and the cache's own lists (1,180 measured; the test compares). */
const ENTRY_OVERHEAD_BYTES = 1_250;

interface RecentAnswer {
  readonly answer: Answer;
  readonly validators: Validators;
  readonly route: string | undefined;
  readonly isNegotiated: boolean;
  readonly untilMs: number;
  /** The monotonic clock stands still while a machine is suspended. */
  readonly untilWallMs: number;
}

export function createRecentAnswers({ clock, maxBytes = DEFAULT_MAX_BYTES }: RecentAnswersOptions): RecentAnswers {
  const recent = new LRUCache<string, RecentAnswer>({ maxSize: maxBytes, sizeCalculation: sizeOf });
  let latest = latestChange();

  /** What was answered before a change may not be answered any more. */
  function forgetChanged(): void {
    if (latest === latestChange()) return;
    latest = latestChange();
    recent.clear();
  }

  return {
    find(exchange) {
      forgetChanged();
      const { request } = exchange;
      if (request.method === 'OPTIONS') return undefined;
      const key = keyOf(exchange);
      const found = key === undefined ? undefined : recent.get(key);
      if (found === undefined || found.untilMs <= clock.monotonic() || found.untilWallMs <= clock.now())
        return undefined;
      exchange.route = found.route;
      exchange.isNegotiated = found.isNegotiated;
      const unchangedEtag = findUnchangedEtag(request.headers, found.validators);
      return unchangedEtag === undefined ? found.answer : notModified(found.answer, unchangedEtag);
    },

    keep(exchange, answer) {
      if (answer.repeatableBy === undefined || exchange.changeBefore !== latestChange()) return;
      forgetChanged();
      const key = keyOf(exchange);
      if (key === undefined) return;
      // Without `repeatableBy` it is not kept once more when it is given again: it would never grow old.
      const { repeatableBy: validators, ...repeated } = answer;
      const { route, isNegotiated } = exchange;
      const untilMs = clock.monotonic() + REPEATABLE_MS;
      const untilWallMs = clock.now() + REPEATABLE_MS;
      const kept = { answer: encoded(repeated), validators, route, isNegotiated, untilMs, untilWallMs };
      recent.set(compactCopy(key), kept);
    },

    stats: () => ({ entries: recent.size, bytes: recent.calculatedSize, maxBytes }),
  };
}

/** Everything of a request that changes its answer; `undefined` for one that is too long to be kept. */
function keyOf({ base, target: { path, query }, request }: Exchange): string | undefined {
  const { accept = '' } = request.headers;
  if (base.length + path.length + query.length + accept.length > MAX_KEY_CHARACTERS) return undefined;
  return `${base}${path}${query} ${accept}`;
}

function sizeOf({ answer: { headers, body }, validators }: RecentAnswer, key: string): number {
  // Bytes that were cut out of a larger buffer keep all of it.
  const bodyBytes = Buffer.isBuffer(body) ? body.buffer.byteLength : (body?.length ?? 0);
  let bytes = ENTRY_OVERHEAD_BYTES + key.length + bodyBytes;
  for (const name in headers) bytes += headers[name]?.length ?? 0;
  for (const etag of validators.earlierEtags ?? []) bytes += etag.length;
  return bytes;
}

/** The body's bytes, one a character: Node writes such a text as it stands, where it would encode another every time. */
function encoded(answer: Answer): Answer {
  const { body, bodyEncoding } = answer;
  if (typeof body !== 'string' || bodyEncoding !== undefined) return answer;
  return { ...answer, body: Buffer.from(body).toString('latin1'), bodyEncoding: 'latin1' };
}

/** Without what describes the body (RFC 9110 section 15.4.5). */
function notModified({ headers, cache }: Answer, etag: string): Answer {
  const kept = Object.entries(headers).filter(([name]) => !name.startsWith('content-'));
  return { status: 304, headers: { ...Object.fromEntries(kept), etag }, ...(cache !== undefined && { cache }) };
}
