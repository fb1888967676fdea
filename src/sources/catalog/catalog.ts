import { fileURLToPath } from 'node:url';
import { LRUCache } from 'lru-cache';
import type { Channel, SearchHit } from '../../domain/channel.ts';
import { AppError, valueOrError } from '../../domain/errors.ts';
import { type ChannelRef, channelIdRef, nameOf } from '../../domain/identifier.ts';
import { type Clock, systemClock } from '../../lib/clock.ts';
import { withinMs } from '../../lib/deadlines.ts';
import type { HolderStats } from '../../lib/holders.ts';
import { compactCopy } from '../../lib/memory-cache.ts';
import { createTurns } from '../../lib/turns.ts';
import { currentClient } from '../../lib/work.ts';
import { createWorkerThread, siblingModule, ThreadUnavailable } from '../../lib/worker-thread.ts';
import { createChangeDetector } from './changes.ts';
import type { NewCatalog } from './new-catalog.ts';
import { catalogPaths } from './schema.ts';
import type { CatalogFunctions, CatalogResponse } from './worker.ts';

/** A read from the catalog. After this time the catalog counts as unreadable. */
export const CATALOG_READ_MS = 2_000;

interface CatalogOptions extends NewCatalog {
  readonly clock?: Clock;
  /** Called with a sentence for the operator when the catalog becomes unusable, and with `null` when it works again. */
  readonly onStateChange?: (problem: string | null) => void;
}

/**
 * The operator's own channels, read at each request. A change by the command line is seen at the next request.
 *
 * While the file is damaged, empty or missing, or the disk does not respond, every call fails with
 * `upstream_unavailable`.
 */
export interface Catalog {
  /** Another number after each change. What was read from an earlier version is outdated. */
  version(): number;
  /** The channel; `undefined` if the catalog does not have it. */
  find(ref: ChannelRef): Promise<Channel | undefined>;
  /** Like `find`, but reads the file even if nothing seems to have changed. */
  findAnew(ref: ChannelRef): Promise<Channel | undefined>;
  /** Channels that match, best first, at most `limit`. */
  search(query: string, limit: number, signal: AbortSignal): Promise<readonly SearchHit[]>;
  /** Some channels as examples. */
  examples(count: number): Promise<readonly Channel[]>;
  /** Settles when the catalog has been opened or created, or cannot be. */
  opened(): Promise<unknown>;
  readonly holders: Readonly<Record<string, () => HolderStats>>;
  close(): Promise<void>;
}

/** The sample catalog of the project. */
export const SHIPPED_SAMPLES_DIR = fileURLToPath(new URL('../../../samples', import.meta.url));

/** How long to wait before an unusable catalog is opened again. */
const RETRY_AFTER_MS = 3_000;

/** A look-up takes up to a millisecond, so the last one waits for about a second. */
const MAX_WAITING = 1_000;
/** A search takes 10 ms at most (`search.ts`), and most take a millisecond. */
const MAX_WAITING_SEARCHES = 500;
const MAX_SEARCH_WAIT_MS = 4_000;
const EXPECTED_SEARCH_MS = 1;
/** After this time a client should try again when the queue is full. */
const BUSY_RETRY_MS = 1_000;

/** About 10,000 channels, or names without a channel. */
const MAX_MEMORY_BYTES = 8 * 1024 * 1024;
/** Memory of a value's objects and of the cache's own lists (measured; a test compares). */
const ENTRY_OVERHEAD_BYTES = 600;

/** What was read under a key: a channel, the absence of one, or the channels that match. */
type Row = { readonly channel: Channel | undefined } | { readonly hits: readonly SearchHit[] };

/**
 * Opens `catalog.db`, which is created if there is none. A thread reads it, because one row from a disk that hangs blocked the
 * event loop for a second, and every search takes milliseconds. What was read stays in memory until the catalog changes.
 */
export function createCatalog({ dataDir, samplesDir, clock = systemClock, ...options }: CatalogOptions): Catalog {
  const { onStateChange = () => {} } = options;
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
  const detector = createChangeDetector({ path: catalogPaths(dataDir).database, clock });
  const memory = new LRUCache<string, Row>({
    maxSize: MAX_MEMORY_BYTES,
    sizeCalculation: (row, key) => ENTRY_OVERHEAD_BYTES + key.length + JSON.stringify(row).length,
  });
  let version = 0;
  let isSearching = false;
  let failure: { readonly problem: string; readonly atMs: number } | undefined;

  // A failure is reported by onStateChange. Later calls try again.
  const opening = valueOrError(settle(thread.call('open', undefined)));

  function beginVersion(): void {
    version += 1;
    memory.clear();
  }

  function currentVersion(): number {
    if (detector.hasChanged()) beginVersion();
    return version;
  }

  /** Keeps nothing that was read while the catalog changed: it may be outdated. */
  function keep(readVersion: number, key: string, row: Row): void {
    if (readVersion === version) memory.set(compactCopy(key), row);
  }

  /** Remembers a failure of the file for some seconds: on a disk that hangs, each call would wait. */
  function rememberFailure(problem: string): AppError {
    if (failure?.problem !== problem) {
      onStateChange(problem);
      beginVersion();
    }
    failure = { problem, atMs: clock.monotonic() };
    return unavailable(problem);
  }

  async function settle<T>(call: Promise<CatalogResponse<T> | undefined>): Promise<T> {
    const response = await call.catch((error: unknown) => {
      throw error instanceof ThreadUnavailable ? unavailable(error.message) : error;
    });
    if (response === undefined) throw rememberFailure(TOO_SLOW);
    if ('unusable' in response) throw rememberFailure(response.unusable);
    if (failure !== undefined) {
      failure = undefined;
      onStateChange(null);
      beginVersion();
    }
    return response.value;
  }

  async function read<T>(call: () => Promise<CatalogResponse<T>>): Promise<T> {
    if (failure !== undefined && clock.monotonic() - failure.atMs < RETRY_AFTER_MS) throw unavailable(failure.problem);
    if (thread.stats().entries === MAX_WAITING) throw busy();
    return settle(withinMs(clock, call(), CATALOG_READ_MS));
  }

  async function findAnew(ref: ChannelRef): Promise<Channel | undefined> {
    const readVersion = currentVersion();
    const channel = await read(() => thread.call('find', ref));
    keep(readVersion, nameOf(ref), { channel });
    // The same object under its ID: responses that were made from it are found by it.
    if (channel !== undefined) keep(readVersion, nameOf(channelIdRef(channel.channelId)), { channel });
    return channel;
  }

  /** One search at a time is in the thread, so that a look-up waits for one search at most. */
  function startSearching(): void {
    if (!isSearching) isSearching = turns.give();
  }

  async function searchInTurn(query: string, limit: number, signal: AbortSignal): Promise<readonly SearchHit[]> {
    const client = currentClient();
    await turns.wait(client, EXPECTED_SEARCH_MS, signal);
    try {
      const { hits, tookMs } = await read(() => thread.call('search', { query, limit }));
      turns.charge(client, tookMs - EXPECTED_SEARCH_MS);
      return hits;
    } finally {
      isSearching = false;
      startSearching();
    }
  }

  return {
    version: currentVersion,

    async find(ref) {
      currentVersion();
      const known = memory.get(nameOf(ref));
      return known !== undefined && 'channel' in known ? known.channel : findAnew(ref);
    },

    findAnew,

    async search(query, limit, signal) {
      const readVersion = currentVersion();
      const key = `${limit} ${query}`;
      const known = memory.get(key);
      if (known !== undefined && 'hits' in known) return known.hits;
      const hits = await searchInTurn(query, limit, signal);
      keep(readVersion, key, { hits });
      return hits;
    },

    examples: (count) => read(() => thread.call('examples', count)),

    opened: () => opening,

    holders: {
      'rows of the catalog': () => ({
        entries: memory.size,
        bytes: memory.calculatedSize,
        maxBytes: MAX_MEMORY_BYTES,
      }),
      'waiting catalog look-ups': thread.stats,
      'waiting catalog searches': turns.waiting,
      'clients of catalog searches': turns.clients,
    },

    async close() {
      await opening;
      await thread.close();
      detector.close();
    },
  };
}

const TOO_SLOW = 'catalog.db cannot be read in time: its disk does not respond, or is very slow.';

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
