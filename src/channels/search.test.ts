import { expect, it, vi } from 'vitest';
import { memoryStore } from '../../test/helpers/cache.ts';
import { createManualClock } from '../../test/helpers/clock.ts';
import { hit, testChannel } from '../../test/helpers/fake-source.ts';
import { WAIT } from '../../test/helpers/wait.ts';
import { createCache } from '../cache/cache.ts';
import { CACHE_POLICY } from '../cache/values.ts';
import type { CacheOutcome } from '../domain/cache-outcome.ts';
import type { SearchHit } from '../domain/channel.ts';
import { AppError } from '../domain/errors.ts';
import { createSearchService } from './search.ts';

const BLOCKED = 'UCblocked000000000000000';
const ONE = 'UCone0000000000000000000';
const OTHER = 'UCother00000000000000000';

const page = (ids: readonly string[]): readonly SearchHit[] => ids.map((id) => hit(id));

const down = new AppError('upstream_unavailable', 'down');

interface SetUpOptions {
  /** What the catalog has. */
  readonly own?: readonly string[];
  /** The channel that every query names. */
  readonly named?: string;
}

const HIT: CacheOutcome = { kind: 'hit', ttlMs: 1_000, isCollapsed: false, isStored: false };

/** A service with one source that returns the test's responses in the order of the calls. */
function setUp(
  responses: (readonly SearchHit[] | Promise<readonly SearchHit[]> | AppError)[] = [],
  found: SetUpOptions = {},
) {
  const clock = createManualClock();
  const store = memoryStore();
  const asked: string[] = [];
  const blocked = new Set([BLOCKED]);
  const service = createSearchService({
    catalog: {
      find: async () => undefined,
      async search() {
        const { own = [] } = found;
        return own.map((id) => hit(id, 'own'));
      },
    },
    sources: {
      async search(query) {
        asked.push(query);
        const response = await responses.shift();
        if (response === undefined) throw new Error('an unexpected call');
        if (response instanceof AppError) throw response;
        return response;
      },
    },
    channels: {
      findChannel: async () => {
        if (found.named !== undefined) return { channel: testChannel(found.named, { title: 'named' }), outcome: HIT };
        // Like a very slow channel that a query names.
        return new Promise(() => undefined);
      },
    },
    blockedChannels: blocked,
    cache: createCache<readonly SearchHit[]>({
      policy: CACHE_POLICY.searches,
      maxMemoryBytes: 1_000_000,
      store,
      clock,
    }),
    clock,
  });
  const { search } = service;
  const idsOf = async (query: string, limit: number) =>
    (await search(query, limit)).hits.map(({ channelId }) => channelId);
  return { search, asked, blocked, clock, stored: store.entries, idsOf };
}

it('stores only the list of the sources, unchanged', async () => {
  const { idsOf, stored } = setUp([page(['c', 'a'])], { own: ['a', 'b'], named: 'named' });
  expect(await idsOf('@named', 20)).toEqual(['named', 'a', 'b', 'c']);
  const kept = [...stored.values()].map((text) => JSON.parse(text.replace(/^\d+ /, '')).value as SearchHit[]);
  expect(kept.map((hits) => hits.map(({ channelId }) => channelId))).toEqual([['c', 'a']]);
});

it('searches the catalog each time, even if the list of the sources is cached', async () => {
  const own: string[] = [];
  const { idsOf, asked } = setUp([page([ONE])], { own });
  expect(await idsOf('q', 20)).toEqual([ONE]);
  own.push(OTHER);
  expect(await idsOf('q', 20)).toEqual([OTHER, ONE]);
  expect(asked).toHaveLength(1);
});

it('has what the catalog found and the stale list of the sources if its reload fails or is slow', async () => {
  const slow = Promise.withResolvers<readonly SearchHit[]>();
  const { search, clock } = setUp([page([ONE]), down, slow.promise], { own: ['a'] });
  await search('q', 20);
  clock.advance(CACHE_POLICY.searches.freshMs);
  const first = await search('q', 20);
  // A failed reload is not tried again for a minute.
  clock.advance(60_000);
  const second = search('q', 20);
  await clock.passTimer(3_000);
  for (const { hits, outcome } of [first, await second]) {
    expect([hits.map(({ channelId }) => channelId), outcome.kind]).toEqual([['a', ONE], 'stale']);
  }
  slow.resolve(page([OTHER]));
});

it('waits for a slow source within the time of a response, and stores what that finds later', async () => {
  const slow = Promise.withResolvers<readonly SearchHit[]>();
  const { search, clock, idsOf, asked } = setUp([slow.promise], { own: ['a'] });
  const early = search('q', 20);
  await clock.passTimer(10_000);
  expect((await early).outcome).toMatchObject({ kind: 'miss', ttlMs: 10_000 });
  slow.resolve(page([ONE]));
  expect(await idsOf('q', 20)).toEqual(['a', ONE]);
  expect(asked).toHaveLength(1);
});

it('neither stores nor shows blocked channels', async () => {
  const { idsOf, stored, blocked, asked } = setUp([page(['a', 'b', BLOCKED])], { own: [BLOCKED] });
  expect(await idsOf('q', 20)).toEqual(['a', 'b']);
  expect([...stored.values()].join()).not.toContain(BLOCKED);
  blocked.add('a');
  expect(await idsOf('q', 20)).toEqual(['b']);
  expect(asked).toHaveLength(1);
});

it('has its results without a named channel that is too slow', async () => {
  const { search, stored, clock } = setUp([page(['a'])]);
  const response = search('@slow', 20);
  await vi.waitFor(() => expect(stored.size).toBe(1), WAIT);
  await clock.passTimer(10_000);
  const { hits, outcome } = await response;
  expect(hits).toHaveLength(1);
  expect(outcome).toMatchObject({ kind: 'miss', ttlMs: 10_000, isStored: false });
  expect(stored.size, 'the list of the sources').toBe(1);
});
