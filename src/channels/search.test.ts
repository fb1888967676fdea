import { describe, expect, it } from 'vitest';
import { BLOCKED, ONE, page, setUpSearch as setUp } from '../../test/helpers/search-service.ts';
import { AppError } from '../domain/errors.ts';

describe('a search', () => {
  it('keeps one entry for each query', async () => {
    const { search, clock, stored, idsOf } = setUp([page(['a', 'b'])]);
    await search('Q  q', 1);
    clock.advance(400_000);
    expect((await search('q q', 2)).outcome).toMatchObject({ kind: 'hit', ttlMs: 200_000 });
    expect(stored.size).toBe(1);
    expect(await idsOf('q q', 2)).toEqual(['a', 'b']);
  });

  it('neither stores nor shows blocked channels', async () => {
    const { idsOf, stored, blocked, asked } = setUp([page(['a', 'b', BLOCKED])]);
    expect(await idsOf('q', 20)).toEqual(['a', 'b']);
    expect([...stored.values()].map(({ value }) => value).join()).not.toContain(BLOCKED);
    blocked.add('a');
    expect(await idsOf('q', 20)).toEqual(['b']);
    expect(asked).toHaveLength(1);
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

  it('shares the load of concurrent requests', async () => {
    const { search, asked, stored } = setUp([page([ONE])]);
    await Promise.all([search('q', 20), search('Q', 1)]);
    expect([asked.length, stored.size]).toEqual([1, 1]);
  });

  it('fails when nothing was found and a source gave no usable response', async () => {
    const { search } = setUp([new AppError('upstream_timeout', 'late')]);
    await expect(search('q', 20)).rejects.toMatchObject({ code: 'upstream_timeout' });
  });
});
