import { expect, it, vi } from 'vitest';
import { memoryStore } from '../../test/helpers/cache.ts';
import { createManualClock } from '../../test/helpers/clock.ts';
import { hit } from '../../test/helpers/fake-source.ts';
import { WAIT } from '../../test/helpers/wait.ts';
import { createCache } from '../cache/cache.ts';
import { CACHE_POLICY } from '../cache/values.ts';
import type { SearchHit } from '../domain/channel.ts';
import { createSearchService } from './search.ts';

const BLOCKED = 'UCblocked000000000000000';
const ONE = 'UCone0000000000000000000';
const OTHER = 'UCother00000000000000000';

const page = (ids: readonly string[]): readonly SearchHit[] => ids.map((id) => hit(id));

/**
 * A service with one source that gives the list to the only call. A channel that a query names is never found in time.
 *
 * @param own what the catalog has
 */
function setUp(list: readonly SearchHit[] | Promise<readonly SearchHit[]>, own: readonly string[] = []) {
  const clock = createManualClock();
  const store = memoryStore();
  const asked: string[] = [];
  const blocked = new Set([BLOCKED]);
  const service = createSearchService({
    catalog: {
      find: async () => undefined,
      search: async () => own.map((id) => hit(id, 'own')),
    },
    sources: {
      async search(query) {
        asked.push(query);
        return list;
      },
    },
    channels: { findChannel: () => new Promise(() => undefined) },
    blockedChannels: blocked,
    cache: createCache<readonly SearchHit[]>({
      policy: CACHE_POLICY.searches,
      maxMemoryBytes: 1_000_000,
      store,
      clock,
    }),
    clock,
  });
  const idsOf = async (query: string) => (await service.search(query, 20)).hits.map(({ channelId }) => channelId);
  return { asked, blocked, clock, stored: store.entries, idsOf };
}

it('searches the catalog each time, even if the list of the sources is cached', async () => {
  const own = [OTHER];
  const { idsOf, asked } = setUp(page([ONE]), own);
  expect(await idsOf('q')).toEqual([OTHER, ONE]);
  own.pop();
  expect(await idsOf('q')).toEqual([ONE]);
  expect(asked).toHaveLength(1);
});

it('waits for a slow source within the time of a response, and stores what that finds later', async () => {
  const slow = Promise.withResolvers<readonly SearchHit[]>();
  const { clock, idsOf, asked } = setUp(slow.promise, ['a']);
  const early = idsOf('q');
  await clock.passTimer(10_000);
  expect(await early).toEqual(['a']);
  slow.resolve(page([ONE]));
  expect(await idsOf('q')).toEqual(['a', ONE]);
  expect(asked).toHaveLength(1);
});

it('neither stores nor shows blocked channels', async () => {
  const { idsOf, stored, blocked, asked } = setUp(page(['a', 'b', BLOCKED]), [BLOCKED]);
  expect(await idsOf('q')).toEqual(['a', 'b']);
  expect([...stored.values()].join()).not.toContain(BLOCKED);
  blocked.add('a');
  expect(await idsOf('q')).toEqual(['b']);
  expect(asked).toHaveLength(1);
});

it('has its results without a named channel that is too slow', async () => {
  const { idsOf, stored, clock } = setUp(page(['a']));
  const response = idsOf('@slow');
  await vi.waitFor(() => expect(stored.size).toBe(1), WAIT);
  await clock.passTimer(10_000);
  expect(await response).toEqual(['a']);
});
