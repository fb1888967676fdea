import type { IncomingMessage } from 'node:http';
import { describe, expect, it } from 'vitest';
import { createManualClock } from '../../../test/helpers/clock.ts';
import { measureHeldBytes, memoryTest } from '../../../test/helpers/heap.ts';
import { latestChange, nextChange } from '../../lib/change-count.ts';
import type { Exchange } from '../request/context.ts';
import { createRecentAnswers, type RecentAnswers } from './micro-cache.ts';
import type { Answer } from './send.ts';

function exchangeFor(path: string, headers: Record<string, string> = {}, query = ''): Exchange {
  return {
    id: 'id',
    receivedAtMs: 0,
    target: { path, query, authority: undefined, problem: undefined },
    scheme: 'http',
    base: 'http://pennant.test',
    request: { method: 'GET', headers } as unknown as IncomingMessage,
    admission: undefined,
    changeBefore: latestChange(),
    fault: undefined,
    route: '/:identifier',
    isLast: false,
    isNegotiated: true,
    span: undefined,
  };
}

/** As the routes make them: every value is a string of its own. */
function answerOf(number: number, body: string | Buffer): Answer {
  const etag = `"${String(number).padStart(22, 'x')}"`;
  return {
    status: 200,
    headers: {
      'content-type': 'image/avif',
      'cache-control': `public, max-age=${3600 + number}`,
      etag,
      'last-modified': new Date(number * 1000).toUTCString(),
      'cache-status': `pennant; hit; ttl=${3600 + number}`,
      'content-disposition': `inline; filename="UC${number}-tv.avif"`,
    },
    body,
    cache: 'hit',
    repeatableBy: { etag, earlierEtags: [`"${String(number).padStart(22, 'y')}"`], lastModifiedMs: number },
  };
}

function create(maxBytes?: number): RecentAnswers {
  return createRecentAnswers({ clock: createManualClock(), ...(maxBytes !== undefined && { maxBytes }) });
}

describe('the micro-cache', () => {
  it('keeps nothing whose URL and Accept are absurdly long', () => {
    const recent = create();
    const requests = [
      exchangeFor('/a', {}, `?junk=${'x'.repeat(8_000)}`),
      exchangeFor('/a', { accept: 'image/avif, '.repeat(1_200) }),
      exchangeFor(`/${'a'.repeat(3_000)}`),
    ];
    for (const request of requests) {
      recent.keep(request, answerOf(1, 'body'));
      expect(recent.find(request)).toBeUndefined();
    }
    expect(recent.stats()).toMatchObject({ entries: 0, bytes: 0 });
  });

  it('stays within its bound for any number of different requests', () => {
    const maxBytes = 1_000_000;
    const recent = create(maxBytes);
    for (let number = 0; number < 2_000; number += 1) {
      recent.keep(exchangeFor('/api/search', {}, `?q=${number}${'x'.repeat(1_500)}`), answerOf(number, '{}'));
    }
    const { bytes = 0, entries = 0 } = recent.stats();
    expect(bytes).toBeLessThanOrEqual(maxBytes);
    expect(bytes).toBeGreaterThan(maxBytes * 0.9);
    expect(entries).toBeLessThan(maxBytes / 1_500);
  });

  it('sends an answer again for a second, and no longer', () => {
    const clock = createManualClock();
    const recent = createRecentAnswers({ clock });
    recent.keep(exchangeFor('/a'), answerOf(1, 'body'));
    clock.advance(999);
    expect(recent.find(exchangeFor('/a'))).toMatchObject({ status: 200 });
    clock.advance(1);
    expect(recent.find(exchangeFor('/a'))).toBeUndefined();
  });

  it('answers 304 with the ETag that the client has', () => {
    const recent = create();
    recent.keep(exchangeFor('/a'), answerOf(1, 'body'));
    const answered = ['x', 'y'].map((letter) => {
      const etag = `"${'1'.padStart(22, letter)}"`;
      return [etag, recent.find(exchangeFor('/a', { 'if-none-match': etag }))];
    });
    for (const [etag, answer] of answered) expect(answer).toMatchObject({ status: 304, headers: { etag } });
  });

  it('forgets everything when something is purged or imported', () => {
    const recent = create();
    recent.keep(exchangeFor('/a'), answerOf(1, 'body'));
    nextChange();
    expect(recent.find(exchangeFor('/a'))).toBeUndefined();
    expect(recent.stats()).toMatchObject({ entries: 0, bytes: 0 });
  });

  it('does not keep the response to a request that came before that', () => {
    const recent = create();
    const exchange = exchangeFor('/a');
    nextChange();
    recent.keep(exchange, answerOf(1, 'body'));
    expect(recent.find(exchangeFor('/a'))).toBeUndefined();
  });

  it('keeps nothing over the sleep of a suspended machine', () => {
    const clock = createManualClock();
    const recent = createRecentAnswers({ clock });
    recent.keep(exchangeFor('/a'), answerOf(1, 'body'));
    clock.jumpWallClock(999);
    expect(recent.find(exchangeFor('/a'))).toBeDefined();
    clock.jumpWallClock(1);
    expect(recent.find(exchangeFor('/a'))).toBeUndefined();
  });

  const text = (number: number) => `${number}`.padEnd(100, 'ü');

  memoryTest.each<[string, { slashes?: number; query?: number; bodyOf: (number: number) => string | Buffer }]>([
    ['small bodies', { bodyOf: text }],
    ['long keys', { query: 1_500, bodyOf: text }],
    ['keys cut out of long URLs', { slashes: 6_000, query: 50, bodyOf: text }],
    ['larger bodies', { bodyOf: (number) => Buffer.alloc(3_000, number) }],
    ['bodies cut out of larger buffers', { bodyOf: (number) => Buffer.alloc(6_000, number).subarray(5_000) }],
  ])('counts at least the memory that it takes: %s', async (_what, { slashes = 0, query: queryLength = 0, bodyOf }) => {
    const recent = create(2 ** 30);
    const taken = await measureHeldBytes(() => {
      for (let number = 0; number < 3_000; number += 1) {
        const url = `${'/'.repeat(slashes)}/?q=${number}`.padEnd(slashes + 4 + queryLength, 'x');
        const query = Buffer.from(url)
          .toString()
          .slice(slashes + 1);
        const exchange = exchangeFor('/a', { accept: `image/avif;q=0.${number}` }, query);
        recent.keep(exchange, answerOf(number, bodyOf(number)));
      }
      return recent;
    });
    const { bytes = 0 } = recent.stats();
    expect(bytes).toBeGreaterThan(taken);
    expect(bytes).toBeLessThan(2 * taken);
  });
});
