import { LRUCache } from 'lru-cache';
import { compactCopy } from '../../lib/memory-cache.ts';
import { addBoundGauges } from '../../lib/metrics.ts';
import type { Runtime } from '../../lib/runtime.ts';
import type { PublicResponse, RequestContext } from '../request/context.ts';
import { applyConditions } from './conditions.ts';
import { NEGOTIATED } from './fields.ts';

interface MicroCacheOptions {
  readonly runtime: Pick<Runtime, 'clock' | 'metrics'>;
  readonly maxBytes?: number;
}

/** `max-age` has whole seconds, so a response may be repeated unchanged for one second. */
const TTL_MS = 1_000;
const DEFAULT_MAX_BYTES = 16 * 1024 * 1024;
/** Browsers send `Accept` fields of some 150 characters. A search text of 100 escaped code points takes 1,200. */
const MAX_KEY_CHARACTERS = 2_000;
/** The objects of an entry and of its header fields, and the cache's own lists (1,180 measured; the test compares). */
const ENTRY_OVERHEAD_BYTES = 1_250;

interface KeptResponse {
  readonly response: PublicResponse;
  /** Monotonic. */
  readonly untilMs: number;
}

/** Responses of the last second, sent again to equal requests. A hot response costs one lookup. */
export interface MicroCache {
  /** The step that finds the response to an equal request. */
  find(context: RequestContext): PublicResponse | undefined;
  /**
   * Stores a response that needed no load and did not come from this cache. It is repeated only while everything that it was
   * made from is fresh.
   */
  keep(context: RequestContext, response: PublicResponse): undefined;
  /** Removes all responses. A purge and a change of the catalog call it. */
  clear(): void;
}

export function createMicroCache(options: MicroCacheOptions): MicroCache {
  const { runtime, maxBytes = DEFAULT_MAX_BYTES } = options;
  const { clock, metrics } = runtime;
  const entries = new LRUCache<string, KeptResponse>({ maxSize: maxBytes, sizeCalculation: sizeOf });
  addBoundGauges(metrics, 'pennant_micro_cache', 'micro-cache', () => ({
    entries: entries.size,
    bytes: entries.calculatedSize,
    maxBytes,
  }));

  return {
    find(context) {
      if (context.request.method === 'OPTIONS') return undefined;
      const key = keyOf(context);
      if (key === undefined) return undefined;
      const found = entries.get(key);
      if (found !== undefined && found.untilMs > clock.monotonic()) {
        return applyConditions(context, found.response);
      }
      return undefined;
    },

    keep(context, response) {
      if (response.isRepeated === true || context.endpoint?.isRepeatable !== true || response.status !== 200) return;
      if (response.cache !== 'hit' && response.cache !== 'catalog') return;
      const keptMs = Math.min(TTL_MS, response.freshMs ?? TTL_MS);
      const key = keptMs > 0 ? keyOf(context) : undefined;
      if (key === undefined) return;
      entries.set(compactCopy(key), {
        response: repeatable(context, response),
        untilMs: clock.monotonic() + keptMs,
      });
    },

    clear: () => entries.clear(),
  };
}

/** Everything in a request that changes its response. `undefined` if it is too long. */
function keyOf({ base, target: { path, query }, request }: RequestContext): string | undefined {
  const { accept = '' } = request.headers;
  if (base.length + path.length + query.length + accept.length > MAX_KEY_CHARACTERS) return undefined;
  return `${base}${path}${query} ${accept}`;
}

function sizeOf({ response: { headers, body } }: KeptResponse, key: string): number {
  // A slice of a larger buffer keeps all of it in memory.
  const bodyBytes = Buffer.isBuffer(body) ? body.buffer.byteLength : (body?.length ?? 0);
  let bytes = ENTRY_OVERHEAD_BYTES + key.length + bodyBytes;
  for (const name in headers) bytes += headers[name]?.length ?? 0;
  return bytes;
}

/** A copy with `Vary`. Its text has one character per byte (Latin-1), which Node writes without encoding. */
function repeatable({ isNegotiated }: RequestContext, response: PublicResponse): PublicResponse {
  const { headers, body, bodyEncoding } = response;
  return {
    ...response,
    isRepeated: true,
    headers: isNegotiated ? { ...headers, ...NEGOTIATED } : headers,
    ...(typeof body === 'string' &&
      bodyEncoding === undefined && { body: Buffer.from(body).toString('latin1'), bodyEncoding: 'latin1' }),
  };
}
