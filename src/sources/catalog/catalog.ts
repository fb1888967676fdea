import { fileURLToPath } from 'node:url';
import type { SearchHit } from '../../domain/channel.ts';
import { AppError, orError } from '../../domain/errors.ts';
import { type ChannelRef, channelIdRef } from '../../domain/identifier.ts';
import { type Clock, systemClock } from '../../lib/clock.ts';
import { createTurns } from '../../lib/turns.ts';
import { currentClient } from '../../lib/work.ts';
import { createWorkerThread, siblingModule, ThreadUnavailable } from '../../lib/worker-thread.ts';
import type { ChannelSource, LoadedChannel } from '../source.ts';
import type { NewCatalog } from './import.ts';
import { channelOf } from './record.ts';
import type { CatalogFunctions, CatalogResponse } from './worker.ts';

export interface CatalogSourceOptions extends NewCatalog {
  readonly clock?: Clock;
  /** Called with a sentence for the operator when the catalog becomes unusable, and with `null` when it works again. */
  readonly onStateChange?: (problem: string | null) => void;
}

/** The sample catalog of the project. */
export const SHIPPED_SAMPLES_DIR = fileURLToPath(new URL('../../../samples', import.meta.url));

/** How long to wait before an unusable catalog is opened again. */
const RETRY_AFTER_MS = 3_000;

/** A look-up takes less than a millisecond, so more waiting ones would take too long. */
const MAX_WAITING = 1_000;
/** A search takes 10 ms at most (`search.ts`), and most take a millisecond. */
const MAX_WAITING_SEARCHES = 500;
const MAX_SEARCH_WAIT_MS = 4_000;
const EXPECTED_SEARCH_MS = 1;
/** After this time a client should try again when the queue is full. */
const BUSY_RETRY_MS = 1_000;

/**
 * The operator's own channels, from `catalog.db`. A thread reads it, so that queries do not block the event loop. It is
 * created at the start if there is none. Changes that the command line makes are visible at once.
 *
 * While the file is damaged, newer or missing, every call fails with `upstream_unavailable`.
 */
export function createCatalogSource({
  dataDir,
  samplesDir,
  clock = systemClock,
  onStateChange = () => {},
}: CatalogSourceOptions): ChannelSource {
  const thread = createWorkerThread<CatalogFunctions>({
    name: 'catalog',
    module: siblingModule(import.meta.url, 'worker'),
    workerData: { dataDir, samplesDir } satisfies NewCatalog,
    maxCalls: MAX_WAITING,
    restartMs: RETRY_AFTER_MS,
    clock,
  });
  /** Costs are milliseconds of the thread. */
  const turns = createTurns({
    maxLength: MAX_WAITING_SEARCHES,
    maxWaitMs: MAX_SEARCH_WAIT_MS,
    clock,
    giveTurns: startSearching,
    refusal: busy,
  });
  let isSearching = false;
  let failure: { readonly problem: string; readonly atMs: number } | undefined;

  // A failure is reported by onStateChange. Later calls try again.
  const opening = orError(run(thread.call('open', undefined)));

  /** The signal is not passed to the thread, because a query takes only milliseconds. */
  async function callThread<T>(signal: AbortSignal, call: () => Promise<CatalogResponse<T>>): Promise<T> {
    signal.throwIfAborted();
    if (failure !== undefined && clock.monotonic() - failure.atMs < RETRY_AFTER_MS) throw unavailable(failure.problem);
    if (thread.stats().entries === MAX_WAITING) throw busy();
    return run(call());
  }

  /** One search at a time is in the thread, so that a look-up waits for one search at most. */
  function startSearching(): void {
    if (!isSearching) isSearching = turns.give();
  }

  async function search(query: string, limit: number, signal: AbortSignal): Promise<SearchHit[]> {
    const client = currentClient() ?? '';
    await turns.wait(client, EXPECTED_SEARCH_MS, signal);
    try {
      const { hits, tookMs } = await callThread(signal, () => thread.call('search', { query, limit }));
      turns.charge(client, tookMs - EXPECTED_SEARCH_MS);
      return hits;
    } finally {
      isSearching = false;
      startSearching();
    }
  }

  async function run<T>(call: Promise<CatalogResponse<T>>): Promise<T> {
    const response = await call.catch((error: unknown) => {
      throw error instanceof ThreadUnavailable ? unavailable(error.message) : error;
    });
    if ('unusable' in response) {
      if (failure?.problem !== response.unusable) onStateChange(response.unusable);
      failure = { problem: response.unusable, atMs: clock.monotonic() };
      throw unavailable(response.unusable);
    }
    if (failure !== undefined) onStateChange(null);
    failure = undefined;
    return response.value;
  }

  async function load(ref: ChannelRef, signal: AbortSignal): Promise<LoadedChannel> {
    const record = await callThread(signal, () => thread.call('find', ref));
    if (record === undefined) throw new AppError('channel_not_found', 'The catalog has no such channel.');
    return { channel: channelOf(record), isComplete: true, missing: [], isOwn: true };
  }

  return {
    name: 'catalog',
    isLive: false,
    holders: {
      'waiting catalog look-ups': thread.stats,
      'waiting catalog searches': turns.waiting,
      'clients of catalog searches': turns.clients,
    },
    getChannel: (channelId, { signal }) => load(channelIdRef(channelId), signal),
    async resolve(ref, { signal }) {
      const loaded = await load(ref, signal);
      return { channelId: loaded.channel.channelId, loaded };
    },
    examples: (count, { signal }) => callThread(signal, () => thread.call('examples', count)),
    async search(query, limit, { signal }) {
      return { hits: await search(query, limit, signal) };
    },
    async close() {
      await opening;
      await thread.close();
    },
  };
}

function busy(): AppError {
  return new AppError('upstream_unavailable', 'The channel catalog has too many requests at the moment.', {
    retryAfterMs: BUSY_RETRY_MS,
  });
}

function unavailable(problem: string): AppError {
  return new AppError('upstream_unavailable', 'The channel catalog cannot be read at the moment.', {
    cause: new Error(problem),
    retryAfterMs: RETRY_AFTER_MS,
  });
}
