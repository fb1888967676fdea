import { AppError, valueOrError } from '../domain/errors.ts';
import { type Identifier, identifierKey } from '../domain/identifier.ts';
import type { Clock } from '../lib/clock.ts';
import { withinMs } from '../lib/deadlines.ts';
import type { ChannelResponse, ChannelService } from './channels.ts';

/** Channels that are not loaded within this time are stale or errors. */
export const BATCH_MS = 11_000;

/** A channel of a batch, or why there is no record of it. */
export type BatchResult = ChannelResponse | AppError;

/**
 * Returns the record of each identifier, in order. Equal identifiers are loaded once.
 *
 * Cached records are returned as they are if they are fresh. At most ten of the other channels are loaded. The rest are stale, or
 * `upstream_unavailable`.
 */
export type GetBatch = (identifiers: readonly Identifier[]) => Promise<BatchResult[]>;

interface ChannelBatchesOptions {
  readonly channels: Pick<ChannelService, 'getChannel' | 'getCachedChannel'>;
  readonly clock: Clock;
}

/** Maximum number of loads for one request. A load counts against the client's share of the call budget. */
const MAX_LOADS = 10;
const TOO_LATE = 'The source did not respond in time. Try again.';
const NOT_LOADED = `A request loads at most ${MAX_LOADS} channels. Request this one again.`;

interface Item {
  readonly identifier: Identifier;
  /** The cached response, later the loaded one. */
  result: BatchResult | undefined;
}

export function createChannelBatches({ channels, clock }: ChannelBatchesOptions): GetBatch {
  async function findCached(identifier: Identifier): Promise<Item> {
    // An expected failure concerns one channel of the batch. A bug concerns the request.
    return { identifier, result: await valueOrError(channels.getCachedChannel(identifier)) };
  }

  async function load(item: Item, deadlineMs: number): Promise<void> {
    const loading = valueOrError(channels.getChannel([item.identifier]));
    const loaded = await withinMs(clock, loading, deadlineMs - clock.monotonic());
    item.result = loaded ?? item.result ?? new AppError('upstream_timeout', TOO_LATE);
  }

  return async (identifiers) => {
    const deadlineMs = clock.monotonic() + BATCH_MS;
    const distinct = new Map(identifiers.map((identifier) => [identifierKey(identifier), identifier]));
    const items = await Promise.all(distinct.values().map(findCached));
    await Promise.all(selectLoads(items).map((item) => load(item, deadlineMs)));
    const results = new Map(items.map(({ identifier, result }) => [identifierKey(identifier), result]));
    return identifiers.map(
      (identifier) => results.get(identifierKey(identifier)) ?? new AppError('upstream_unavailable', NOT_LOADED),
    );
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
