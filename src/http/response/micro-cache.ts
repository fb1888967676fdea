import { createMemoryCache } from '../../lib/memory-cache.ts';
import { addBoundGauges } from '../../lib/metrics.ts';
import type { Runtime } from '../../lib/runtime.ts';
import type { EndpointStep, PublicResponse, RequestContext, Step } from '../request/context.ts';
import { applyConditions } from './conditions.ts';

/** `max-age` has whole seconds, so a response may be repeated unchanged for one second. */
const TTL_MS = 1_000;
const MAX_BYTES = 16 * 1024 * 1024;
/** The objects of an entry and of its header fields, and the cache's own lists (1,180 measured). */
const ENTRY_OVERHEAD_BYTES = 1_250;

interface KeptResponse {
  readonly response: PublicResponse;
  readonly isNegotiated: boolean;
  /** The time on the monotonic clock. */
  readonly untilMs: number;
}

export type MicroCache = ReturnType<typeof createMicroCache>;

/** Responses of the last second, sent again to equal requests. A hot response costs one lookup. */
export function createMicroCache({ clock, metrics }: Pick<Runtime, 'clock' | 'metrics'>) {
  const entries = createMemoryCache<KeptResponse>({ maxBytes: MAX_BYTES, sizeOf });
  addBoundGauges(metrics, 'pennant_micro_cache', 'micro-cache', entries.stats);

  function keep(key: string, response: PublicResponse, { isNegotiated }: RequestContext): void {
    const { status, outcome } = response;
    if (status !== 200 || (outcome?.kind !== 'hit' && outcome?.kind !== 'catalog')) return;
    const keptMs = Math.min(TTL_MS, outcome.ttlMs);
    if (keptMs > 0) entries.set(key, { response, isNegotiated, untilMs: clock.monotonic() + keptMs });
  }

  return {
    /**
     * The step that repeats the response to an equal request. If there is none, the endpoint responds. Its response is kept if
     * it needed no load, and is repeated only while the looked-up value is fresh.
     */
    before:
      (respond: EndpointStep): Step =>
      (context) => {
        const key = keyOf(context);
        const found = context.request.method === 'OPTIONS' ? undefined : entries.get(key);
        if (found !== undefined && found.untilMs > clock.monotonic()) {
          context.isNegotiated = found.isNegotiated;
          return applyConditions(context, found.response);
        }
        return respond(context).then((response) => {
          keep(key, response, context);
          return response;
        });
      },

    /** Removes all responses. A purge and a change of the catalog call it. */
    clear: entries.clear,
  };
}

/** Everything in a request that changes its response. */
function keyOf({ base, target: { path, query }, request }: RequestContext): string {
  return `${base}${path}${query} ${request.headers.accept ?? ''}`;
}

function sizeOf({ response: { headers, body = '' } }: KeptResponse, key: string): number {
  // A slice of a larger buffer keeps all of it in memory. A character of a text takes up to two bytes.
  let bytes = ENTRY_OVERHEAD_BYTES + key.length + (Buffer.isBuffer(body) ? body.buffer.byteLength : 2 * body.length);
  for (const name in headers) bytes += headers[name]?.length ?? 0;
  return bytes;
}
