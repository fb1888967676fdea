import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { BLOCKED, ONE, OTHER, page, setUpSearch as setUp } from '../../test/helpers/search-service.ts';
import { AppError } from '../domain/errors.ts';
import type { SearchOutcome } from '../sources/search-all.ts';
import { CACHE_POLICY } from './cache-policy.ts';

describe('a search', () => {
  it('shares the load of a further page between concurrent requests', async () => {
    const second = Promise.withResolvers<SearchOutcome>();
    const { search, asked } = setUp([page(['a', 'b'], 'page 2'), second.promise, page(['e'])]);
    await search('q', 1);
    const four = search('q', 4);
    const five = search('q', 5);
    second.resolve(page(['b', 'c', 'd'], 'page 3'));
    expect((await four).hits.map(({ channelId }) => channelId)).toEqual(['a', 'b', 'c', 'd']);
    expect((await five).hits.map(({ channelId }) => channelId)).toEqual(['a', 'b', 'c', 'd', 'e']);
    expect(asked).toEqual([undefined, 'page 2', 'page 3']);
  });

  it('shares the load of a further page until that page is stored', async () => {
    const writing = { reached: Promise.withResolvers<void>(), opened: Promise.withResolvers<void>() };
    const BOTH = [ONE, OTHER];
    let reads = 0;
    const { idsOf, asked } = setUp([page([ONE], 'page 2'), page([OTHER])], {
      // The store is read by the first search, by the second, and before the second adds its page.
      maxMemoryBytes: 1,
      async beforeRead() {
        reads += 1;
        if (reads !== 3) return;
        writing.reached.resolve();
        await writing.opened.promise;
      },
    });
    await idsOf('q', 1);
    const second = idsOf('q', 2);
    await writing.reached.promise;
    const third = idsOf('q', 2);
    await nextTurn();
    writing.opened.resolve();
    expect([await second, await third]).toEqual([BOTH, BOTH]);
    expect(asked).toEqual([undefined, 'page 2']);
  });

  it('keeps one entry for each query, with the age of its first page', async () => {
    const { search, clock, stored, idsOf } = setUp([page(['a'], 'page 2'), page(['b'])]);
    await search('Q  q', 1);
    clock.advance(400_000);
    expect((await search('q q', 2)).outcome).toMatchObject({ kind: 'miss', ttlMs: 200_000, isStored: true });
    expect(stored.size).toBe(1);
    clock.advance(199_999);
    expect(await idsOf('q q', 2)).toEqual(['a', 'b']);
  });

  it('loads further pages when the first ones contain only blocked channels', async () => {
    const { idsOf, stored } = setUp([page([BLOCKED], 'page 2'), page(['a', BLOCKED])]);
    expect(await idsOf('q', 2)).toEqual(['a']);
    expect([...stored.values()].map(({ value }) => value).join()).not.toContain(BLOCKED);
  });

  it('does not show a channel that is blocked after the list was stored', async () => {
    const { idsOf, blocked, asked } = setUp([page(['a', 'b'], 'page 2'), page(['c'])]);
    expect(await idsOf('q', 2)).toEqual(['a', 'b']);
    blocked.add('a');
    expect(await idsOf('q', 1)).toEqual(['b']);
    expect(asked).toHaveLength(1);
    expect(await idsOf('q', 2)).toEqual(['b', 'c']);
  });

  it('does not delay its results for a named channel that is slow', async () => {
    const { search, stored, clock } = setUp([page(['a'])]);
    const response = search('@slow', 20);
    await clock.passTimer(3_000);
    const { hits, outcome } = await response;
    expect(hits).toHaveLength(1);
    expect(outcome).toMatchObject({ kind: 'miss', ttlMs: 10_000, isStored: false });
    expect(stored.size, 'the list of the sources').toBe(1);
  });

  it('makes one load for concurrent requests when a source fails, and does not store it', async () => {
    const failure = new AppError('upstream_unavailable', 'down');
    const { search, asked, stored } = setUp([{ ...page(['a']), failure }]);
    const responses = await Promise.all([search('q', 20), search('q', 20)]);
    expect(responses.map(({ hits, outcome }) => [hits.length, outcome.ttlMs])).toEqual([
      [1, 10_000],
      [1, 10_000],
    ]);
    expect([asked.length, stored.size]).toEqual([1, 0]);
  });

  it('has no more results than the limit, also with a failed source and from the store', async () => {
    const failure = new AppError('upstream_unavailable', 'down');
    const { idsOf } = setUp([{ ...page(['a', 'b', 'c']), failure }, page(['a', 'b', 'c'])]);
    expect(await idsOf('q', 2)).toEqual(['a', 'b']);
    for (let asked = 0; asked < 2; asked += 1) expect(await idsOf('q', 2)).toEqual(['a', 'b']);
  });

  it('reports a hit when the stored pages have enough channels', async () => {
    const { search, asked } = setUp([page([ONE, OTHER], 'second')]);
    expect((await search('cooking', 2)).outcome.kind).toBe('miss');
    expect((await search('cooking', 2)).outcome.kind).toBe('hit');
    expect(asked).toHaveLength(1);
  });

  it('loads no further page for a stale first one', async () => {
    const { search, responses, asked, clock } = setUp([page([ONE], 'second')]);
    await search('cooking', 1);
    clock.advance(CACHE_POLICY.searches.freshMs + 1);
    responses.push(new AppError('upstream_unavailable', 'test'));
    const { hits, outcome } = await search('cooking', 5);
    expect([hits.map(({ channelId }) => channelId), outcome.kind]).toEqual([[ONE], 'stale']);
    expect(asked).toHaveLength(2);
  });

  it('fails when nothing was found and a source gave no usable response', async () => {
    const { search } = setUp([new AppError('upstream_timeout', 'late')]);
    await expect(search('q', 20)).rejects.toMatchObject({ code: 'upstream_timeout' });
  });

  it.each<[string, (SearchOutcome | AppError)[]]>([
    ['is a blocked channel', [{ ...page([BLOCKED]), failure: new AppError('upstream_timeout', 'late') }]],
    ['is on a page that fails', [page([], 'page 2'), new AppError('upstream_timeout', 'late')]],
    [
      'is on a page that a source lacks',
      [page([], 'page 2'), { ...page([]), failure: new AppError('upstream_timeout', 'late') }],
    ],
  ])('is an error, not an empty list, if everything that it found %s', async (_what, responses) => {
    const { search } = setUp(responses);
    await expect(search('q', 20)).rejects.toMatchObject({ code: 'upstream_timeout' });
  });
});
