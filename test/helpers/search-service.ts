import { createCache } from '../../src/cache/cache.ts';
import { CACHE_POLICY } from '../../src/cache/policy.ts';
import { createSearchService } from '../../src/channels/search.ts';
import type { CacheOutcome } from '../../src/domain/cache-outcome.ts';
import { AppError } from '../../src/domain/errors.ts';
import type { SearchPage } from '../../src/sources/source.ts';
import { memoryStore } from './cache.ts';
import { createManualClock } from './clock.ts';
import { hit, testChannel } from './fake-source.ts';

export const BLOCKED = 'UCblocked000000000000000';
export const ONE = 'UCone0000000000000000000';
export const OTHER = 'UCother00000000000000000';

export const page = (ids: readonly string[]): SearchPage => ({ hits: ids.map((id) => hit(id)) });

interface SetUpOptions {
  /** What the catalog has, or why it cannot be searched. */
  readonly own?: readonly string[] | AppError;
  /** The channel that every query names. */
  readonly named?: string;
  /** False: the catalog is asked only. */
  readonly hasSource?: boolean;
  readonly maxMemoryBytes?: number;
  /** Every read from the store waits for it. */
  readonly beforeRead?: () => Promise<void>;
}

const HIT: CacheOutcome = { kind: 'hit', ttlMs: 1_000, isCollapsed: false, isStored: false };

/** A service with one source that returns the test's responses in the order of the calls. */
export function setUpSearch(
  responses: (SearchPage | Promise<SearchPage> | AppError)[] = [],
  { maxMemoryBytes = 1_000_000, beforeRead = async () => undefined, ...found }: SetUpOptions = {},
) {
  const clock = createManualClock();
  const store = memoryStore();
  const asked: string[] = [];
  const blocked = new Set([BLOCKED]);
  const service = createSearchService({
    catalog: {
      async search() {
        const { own = [] } = found;
        if (own instanceof AppError) throw own;
        return own.map((id) => hit(id, 'own'));
      },
    },
    sources:
      found.hasSource === false
        ? undefined
        : {
            async search(query) {
              asked.push(query);
              const response = await responses.shift();
              if (response === undefined) throw new Error('an unexpected call');
              if (response instanceof AppError) throw response;
              return response;
            },
          },
    channels: {
      getChannel: async () => {
        if (found.named !== undefined) return { channel: testChannel(found.named, { title: 'named' }), outcome: HIT };
        // Like a very slow channel that a query names.
        return new Promise(() => undefined);
      },
      isBlocked: (channelId) => blocked.has(channelId),
    },
    cache: createCache<SearchPage>({
      policy: CACHE_POLICY.searches,
      maxMemoryBytes,
      store: {
        ...store,
        async get(key) {
          await beforeRead();
          return store.get(key);
        },
      },
      clock,
    }),
    clock,
  });
  const search = (query: string, limit: number) => service.search(query, limit, new AbortController().signal);
  const idsOf = async (query: string, limit: number) =>
    (await search(query, limit)).hits.map(({ channelId }) => channelId);
  return { service, search, responses, asked, blocked, clock, stored: store.entries, idsOf };
}
