import type { Registry } from '@prometheus-io/client';
import { AppError, valueOrError } from '../domain/errors.ts';
import { type ChannelRef, nameOf } from '../domain/identifier.ts';
import type { Clock } from '../lib/clock.ts';
import { withinMs } from '../lib/deadlines.ts';
import { addBoundGauges } from '../lib/metrics.ts';
import { currentClient } from '../lib/work.ts';
import type { ChannelResponse, ChannelService } from './channels.ts';

/** Channels that are not loaded within this time are stale or errors. */
export const BATCH_MS = 11_000;

/** A channel of a batch, or why there is no record of it. */
export type BatchResult = ChannelResponse | AppError;

interface ChannelBatchesOptions {
  readonly channels: Pick<ChannelService, 'getChannel' | 'peekChannel'>;
  readonly clock: Clock;
  readonly metrics: Registry;
}

/** Each counts against the client's share of the call budget, as if it were requested alone. */
const MAX_LOADS = 10;
const MAX_LOADING_BATCHES = 2;
/** Lookups of one batch at a time. */
const LOOKUPS_AT_A_TIME = 5;
/** Lookups of all batches at a time: half of the catalog's queue, so that other requests find room in it. */
const MAX_LOOKUPS = 500;
const TOO_LATE = 'The source did not respond in time. Try again.';
const NOT_LOOKED_UP = 'Too many channels are being looked up at the moment. Request this one again.';
const NOT_LOADED = `A request loads at most ${MAX_LOADS} channels. Request this one again.`;

interface Item {
  readonly ref: ChannelRef;
  /** The cached response, later the loaded one. */
  result: BatchResult | undefined;
}

/** Records of many channels for one request. */
export interface ChannelBatches {
  /**
   * Returns the record of each reference, in order. Equal references are loaded once.
   *
   * Cached records are returned as they are if they are fresh. At most ten of the other channels are loaded, and none if
   * the client already has two batches that load channels. The rest are stale, or `upstream_unavailable`.
   */
  getChannels(refs: readonly ChannelRef[]): Promise<BatchResult[]>;
}

export function createChannelBatches({ channels, clock, metrics }: ChannelBatchesOptions): ChannelBatches {
  /** By client: the number of its batches that load channels. At most one entry for each current request. */
  const loadingBatches = new Map<string, number>();
  let lookups = 0;
  addBoundGauges(metrics, 'pennant_clients_with_batches', 'clients with batches', () => ({
    entries: loadingBatches.size,
  }));
  addBoundGauges(metrics, 'pennant_batch_lookups', 'lookups of batches', () => ({
    entries: lookups,
    maxEntries: MAX_LOOKUPS,
  }));

  async function peek(item: Item): Promise<void> {
    if (lookups === MAX_LOOKUPS) {
      item.result = new AppError('upstream_unavailable', NOT_LOOKED_UP);
      return;
    }
    lookups += 1;
    try {
      // An expected failure concerns one channel of the batch. A bug concerns the request.
      item.result = await valueOrError(channels.peekChannel(item.ref));
    } finally {
      lookups -= 1;
    }
  }

  async function peekAll(items: Iterable<Item>): Promise<void> {
    const left = Iterator.from(items);
    async function peekNext(): Promise<void> {
      for (const item of left) await peek(item);
    }
    await Promise.all(Array.from({ length: LOOKUPS_AT_A_TIME }, peekNext));
  }

  async function load(item: Item, deadlineMs: number): Promise<void> {
    const loading = valueOrError(channels.getChannel([item.ref]));
    const loaded = await withinMs(clock, loading, deadlineMs - clock.monotonic());
    item.result = loaded ?? item.result ?? new AppError('upstream_timeout', TOO_LATE);
  }

  /** Runs the work, unless the client has as many batches as it may have. */
  async function asLoadingBatch(client: string, work: () => Promise<unknown>): Promise<void> {
    const others = loadingBatches.get(client) ?? 0;
    if (others === MAX_LOADING_BATCHES) return;
    loadingBatches.set(client, others + 1);
    try {
      await work();
    } finally {
      const left = (loadingBatches.get(client) ?? 1) - 1;
      if (left === 0) loadingBatches.delete(client);
      else loadingBatches.set(client, left);
    }
  }

  return {
    async getChannels(refs) {
      const deadlineMs = clock.monotonic() + BATCH_MS;
      const items = new Map<string, Item>(refs.map((ref) => [nameOf(ref), { ref, result: undefined }]));
      await peekAll(items.values());
      const loads = selectLoads([...items.values()]);
      if (loads.length > 0) {
        const loadAll = () => Promise.all(loads.map((item) => load(item, deadlineMs)));
        await asLoadingBatch(currentClient().key, loadAll);
      }
      return refs.map((ref) => items.get(nameOf(ref))?.result ?? new AppError('upstream_unavailable', NOT_LOADED));
    },
  };
}

/** Channels without a record first, then the least stale: a failing channel must not prevent the reload of others. */
function selectLoads(items: readonly Item[]): Item[] {
  return items
    .filter(({ result }) => !(result instanceof AppError) && !isFresh(result))
    .toSorted((one, other) => freshnessOf(other) - freshnessOf(one))
    .slice(0, MAX_LOADS);
}

function isFresh(result: ChannelResponse | undefined): boolean {
  return result !== undefined && ['catalog', 'hit'].includes(result.outcome.kind);
}

function freshnessOf({ result }: Item): number {
  return result === undefined || result instanceof AppError ? Number.MAX_VALUE : result.outcome.ttlMs;
}
