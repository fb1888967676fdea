import { describe, expect, it } from 'vitest';
import { BLOCKED, ONE, OTHER, page, setUpSearch as setUp } from '../../test/helpers/search-service.ts';
import { CACHE_POLICY } from '../cache/policy.ts';
import { AppError } from '../domain/errors.ts';
import type { SearchPage } from '../sources/source.ts';

describe('a search in the catalog and the sources', () => {
  const down = new AppError('upstream_unavailable', 'down');

  it('lists the named channel, then those of the catalog, then the others, and counts none twice', async () => {
    const { search } = setUp([page(['c', 'a', 'd', 'named'])], { own: ['a', 'b'], named: 'named' });
    const { hits } = await search('@named', 5);
    expect(hits.map(({ channelId, title }) => `${channelId} ${title}`)).toEqual([
      'named named',
      'a own',
      'b own',
      'c c',
      'd d',
    ]);
  });

  it('stores only the list of the sources, unchanged', async () => {
    const { idsOf, stored } = setUp([page(['c', 'a'])], { own: ['a', 'b'], named: 'named' });
    expect(await idsOf('@named', 20)).toEqual(['named', 'a', 'b', 'c']);
    const kept = [...stored.values()].map(({ value }) => JSON.parse(value).value as SearchPage);
    expect(kept.map(({ hits }) => hits.map(({ channelId }) => channelId))).toEqual([['c', 'a']]);
  });

  it('searches the catalog each time, even if the list of the sources is cached', async () => {
    const own: string[] = [];
    const { idsOf, asked } = setUp([page([ONE])], { own });
    expect(await idsOf('q', 20)).toEqual([ONE]);
    own.push(OTHER);
    expect(await idsOf('q', 20)).toEqual([OTHER, ONE]);
    expect(asked).toHaveLength(1);
  });

  it('shows no blocked channel of the catalog', async () => {
    expect(await setUp([page([ONE])], { own: [BLOCKED, 'a'] }).idsOf('q', 20)).toEqual(['a', ONE]);
  });

  it('has what the catalog found, for ten seconds, if the source fails', async () => {
    const { search, asked } = setUp([down, down], { own: ['a'] });
    for (let time = 0; time < 2; time += 1) {
      expect((await search('q', 20)).outcome).toMatchObject({ kind: 'miss', ttlMs: 10_000, isStored: false });
    }
    expect(asked).toHaveLength(2);
  });

  it('has what the source found, for ten seconds, if the catalog fails, and is an error if nothing was found', async () => {
    const { search, idsOf } = setUp([page([ONE]), page([])], { own: down });
    for (let time = 0; time < 2; time += 1) {
      expect((await search('q', 20)).outcome).toMatchObject({ kind: 'miss', ttlMs: 10_000 });
    }
    await expect(idsOf('nothing', 20)).rejects.toBe(down);
  });

  it('has what the catalog found and the stale list of the sources if its reload fails or is slow', async () => {
    const slow = Promise.withResolvers<SearchPage>();
    const { search, clock } = setUp([page([ONE]), down, slow.promise], { own: ['a'] });
    await search('q', 20);
    clock.advance(CACHE_POLICY.searches.freshMs);
    const first = await search('q', 20);
    // A failed reload is not tried again for a minute.
    clock.advance(60_000);
    const second = search('q', 20);
    await clock.passTimer(2_500);
    for (const { hits, outcome } of [first, await second]) {
      expect([hits.map(({ channelId }) => channelId), outcome.kind]).toEqual([['a', ONE], 'stale']);
    }
    slow.resolve(page([OTHER]));
  });

  it('does not wait long for a slow source, and stores what that finds later', async () => {
    const slow = Promise.withResolvers<SearchPage>();
    const { service, clock, idsOf, asked } = setUp([slow.promise], { own: ['a'] });
    const connection = new AbortController();
    const early = service.search('q', 20, connection.signal);
    await clock.passTimer(3_000);
    expect((await early).outcome).toMatchObject({ kind: 'miss', ttlMs: 10_000 });
    // Every connection is aborted after its response.
    connection.abort();
    slow.resolve(page([ONE]));
    expect(await idsOf('q', 20)).toEqual(['a', ONE]);
    expect(asked).toHaveLength(1);
  });

  it('needs no source if the catalog is the only one', async () => {
    const { search, stored } = setUp([], { own: ['a'], hasSource: false });
    expect((await search('q', 20)).outcome).toMatchObject({ kind: 'catalog', ttlMs: 600_000 });
    expect((await setUp([], { hasSource: false }).search('q', 20)).hits).toEqual([]);
    expect(stored.size).toBe(0);
  });
});
