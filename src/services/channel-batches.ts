import { AppError } from '../domain/errors.ts';
import { type ChannelRef, nameOf } from '../domain/identifier.ts';
import { TIME_LIMITS_MS } from '../domain/time-limits.ts';
import type { Clock } from '../lib/clock.ts';
import type { Holders } from '../lib/holders.ts';
import { currentClient, withinMs } from '../lib/work.ts';
import type { ChannelAnswer, ChannelService } from './channels.ts';

/** A channel of a batch, or why there is no record of it. */
export type BatchResult = ChannelAnswer | AppError;

export interface ChannelBatches {
  /**
   * Returns the record of each reference, in order. Equal references are loaded once.
   *
   * Cached records are returned as they are if they are fresh. At most ten of the other channels are loaded, and none if
   * the client already has two batches that load channels. The rest are stale, or `upstream_unavailable`.
   */
  getChannels(refs: readonly ChannelRef[]): Promise<BatchResult[]>;
}

export interface ChannelBatchesOptions {
  readonly channels: Pick<ChannelService, 'getChannel' | 'peekChannel'>;
  readonly clock: Clock;
  readonly holders: Pick<Holders, 'add'>;
}

/** Each counts against the client's share of the call budget, as if it were requested alone. */
const MAX_LOADS = 10;
const MAX_LOADING_BATCHES = 2;

interface Item {
  readonly key: string;
  readonly ref: ChannelRef;
  readonly cached: BatchResult | undefined;
}

export function createChannelBatches({ channels, clock, holders }: ChannelBatchesOptions): ChannelBatches {
  /** By client: the number of its batches that load channels. At most one entry for each request under way. */
  const loadingBatches = new Map<string, number>();
  holders.add('clients with batches', () => ({ entries: loadingBatches.size }));

  async function peek([key, ref]: readonly [string, ChannelRef]): Promise<Item> {
    return { key, ref, cached: await orError(channels.peekChannel(ref)) };
  }

  async function load({ ref, cached }: Item, deadlineMs: number): Promise<BatchResult> {
    const loading = orError(channels.getChannel([ref]));
    return (await withinMs(clock, loading, deadlineMs - clock.monotonic())) ?? cached ?? tooLate();
  }

  /** Runs the work, or returns `undefined` if the client has as many batches as it may have. */
  async function asLoadingBatch<T>(client: string, work: () => Promise<T>): Promise<T | undefined> {
    const others = loadingBatches.get(client) ?? 0;
    if (others === MAX_LOADING_BATCHES) return undefined;
    loadingBatches.set(client, others + 1);
    try {
      return await work();
    } finally {
      const left = (loadingBatches.get(client) ?? 1) - 1;
      if (left === 0) loadingBatches.delete(client);
      else loadingBatches.set(client, left);
    }
  }

  return {
    async getChannels(refs) {
      const deadlineMs = clock.monotonic() + TIME_LIMITS_MS.batch;
      const distinct = new Map(refs.map((ref) => [nameOf(ref), ref]));
      const items = await Promise.all([...distinct].map(peek));
      const results = new Map(items.map(({ key, cached }) => [key, cached]));
      const loadable = selectLoads(items);
      if (loadable.length > 0) {
        await asLoadingBatch(currentClient() ?? '', () =>
          Promise.all(loadable.map(async (item) => results.set(item.key, await load(item, deadlineMs)))),
        );
      }
      return refs.map((ref) => results.get(nameOf(ref)) ?? notLoaded());
    },
  };
}

/** Channels without a record first, then the least stale: a record whose reloads fail must not keep others from theirs. */
function selectLoads(items: readonly Item[]): Item[] {
  return items
    .filter(({ cached }) => !(cached instanceof AppError) && cached?.outcome.kind !== 'hit')
    .toSorted((one, other) => freshnessOf(other) - freshnessOf(one))
    .slice(0, MAX_LOADS);
}

function freshnessOf({ cached }: Item): number {
  return cached === undefined || cached instanceof AppError ? Number.MAX_VALUE : cached.outcome.ttlMs;
}

/** An expected failure concerns one channel of the batch. A bug concerns the request. */
async function orError(answer: Promise<ChannelAnswer>): Promise<BatchResult>;
async function orError(answer: Promise<ChannelAnswer | undefined>): Promise<BatchResult | undefined>;
async function orError(answer: Promise<ChannelAnswer | undefined>): Promise<BatchResult | undefined> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof AppError) return error;
    throw error;
  }
}

function tooLate(): AppError {
  return new AppError('upstream_timeout', 'The source did not answer in time. Try again.');
}

function notLoaded(): AppError {
  return new AppError('upstream_unavailable', `A request loads at most ${MAX_LOADS} channels. Request this one again.`);
}
