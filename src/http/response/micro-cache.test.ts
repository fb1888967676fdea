import type { IncomingMessage } from 'node:http';
import { Registry } from '@prometheus-io/client';
import { describe, expect, it } from 'vitest';
import { createManualClock } from '../../../test/helpers/clock.ts';
import { measureHeldBytes } from '../../../test/helpers/heap.ts';
import { readBound } from '../../../test/helpers/runtime.ts';
import type { PublicResponse, RequestContext } from '../request/context.ts';
import { createMicroCache } from './micro-cache.ts';

function contextFor(path: string, headers: Record<string, string> = {}, query = ''): RequestContext {
  return {
    target: { path, query, authority: undefined, problem: undefined },
    base: 'http://pennant.test',
    request: { method: 'GET', headers } as unknown as IncomingMessage,
    isNegotiated: true,
  } as unknown as RequestContext;
}

/** A response like those of the routes: every value is a separate string. */
function responseOf(number: number, body: string | Buffer): PublicResponse {
  return {
    status: 200,
    headers: {
      'content-type': 'image/avif',
      'cache-control': `public, max-age=${3600 + number}`,
      etag: `"${String(number).padStart(22, 'x')}"`,
      'last-modified': new Date(number * 1000).toUTCString(),
      'cache-status': `pennant; hit; ttl=${3600 + number}`,
      'content-disposition': `inline; filename="UC${number}-tv.avif"`,
    },
    body,
    outcome: { kind: 'hit', ttlMs: 3_600_000, isCollapsed: false, isStored: true },
  };
}

function create(maxBytes?: number) {
  const clock = createManualClock();
  const metrics = new Registry();
  const cache = createMicroCache({
    runtime: { clock, metrics },
    ...(maxBytes !== undefined && { maxBytes }),
  });
  return { ...cache, clock, stats: () => readBound(metrics, 'pennant_micro_cache') };
}

describe('the micro-cache', () => {
  const text = (number: number) => `${number}`.padEnd(100, 'ü');

  it.each<[string, { slashes?: number; query?: number; bodyOf: (number: number) => string | Buffer }]>([
    ['small bodies', { bodyOf: text }],
    ['keys that are slices of long URLs', { slashes: 6_000, query: 50, bodyOf: text }],
    ['bodies that are slices of larger buffers', { bodyOf: (number) => Buffer.alloc(6_000, number).subarray(5_000) }],
  ])('counts at least the memory that it takes: %s', async (_what, { slashes = 0, query: queryLength = 0, bodyOf }) => {
    const cache = create(2 ** 30);
    const taken = await measureHeldBytes(async () => {
      for (let number = 0; number < 2_000; number += 1) {
        const url = `${'/'.repeat(slashes)}/?q=${number}`.padEnd(slashes + 4 + queryLength, 'x');
        const query = Buffer.from(url)
          .toString()
          .slice(slashes + 1);
        const context = contextFor('/a', { accept: `image/avif;q=0.${number}` }, query);
        await cache.before(async () => responseOf(number, bodyOf(number)))(context);
      }
      return cache;
    });
    const { bytes = 0 } = await cache.stats();
    expect(bytes).toBeGreaterThan(taken);
    expect(bytes).toBeLessThan(2 * taken);
  });
});
