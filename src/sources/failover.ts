import type { Channel } from '../domain/channel.ts';
import { AppError, type ErrorCode, errorCodeOf, isIndeterminate, mostTelling } from '../domain/errors.ts';
import type { ChannelRef } from '../domain/identifier.ts';
import { TIME_LIMITS_MS } from '../domain/time-limits.ts';
import type { Clock } from '../lib/clock.ts';
import { QuotaSpentError } from '../lib/http/call-budget.ts';
import type { CircuitBreaker } from '../lib/http/circuit-breaker.ts';
import { traced } from '../lib/tracing.ts';
import { withDeadline } from '../lib/work.ts';
import { fillMissingFields } from './fill-missing-fields.ts';
import { type FoundChannels, type SearchResult, searchAll } from './search-all.ts';
import type { ChannelSource, LoadedChannel, LoadOptions, Resolution } from './source.ts';

export type SourceOperation = 'resolve' | 'getChannel' | 'getRest' | 'search';

/** One call of one source, for metrics and logs. */
export interface SourceOutcome {
  readonly source: string;
  readonly operation: SourceOperation;
  readonly outcome: 'found' | ErrorCode;
  readonly durationMs: number;
  readonly error?: unknown;
}

export interface FailoverOptions {
  /** In the order of `SOURCES`. */
  readonly sources: readonly ChannelSource[];
  /** By source name. A source without a breaker is never paused. */
  readonly breakers?: ReadonlyMap<string, CircuitBreaker>;
  readonly clock: Clock;
  readonly onOutcome?: (outcome: SourceOutcome) => void;
}

/**
 * All sources as one. Sources are tried in order, and the first one that finds the channel wins. "No such channel" from a
 * live source is final; from the catalog it counts only if no other source is configured. If every source fails, the most
 * specific failure is thrown, with the time after which to retry.
 */
export interface Failover {
  resolve(ref: ChannelRef, options?: LoadOptions): Promise<Resolution>;
  getChannel(channelId: string, options?: LoadOptions): Promise<LoadedChannel>;
  /** Loads the fields that were missing from a record. `rest` is that of the record. */
  getRest(channelId: string, rest: string, options?: LoadOptions): Promise<Partial<Channel>>;
  /**
   * Searches all sources, one page each. `from` is the `next` of an earlier result: then only the sources in it are
   * searched, for their next page.
   */
  search(query: string, limit: number, options?: FailoverSearchOptions): Promise<SearchResult>;
  /** The exact second a channel was created, from the first source that has it; `null` if none has it now. */
  findPublishedAt(channelId: string, options?: LoadOptions): Promise<string | null>;
}

export interface FailoverSearchOptions extends Partial<LoadOptions> {
  readonly from?: FoundChannels['next'] | undefined;
}

/** One request to a source. `key` names the channel or query, because a failure may concern that alone. */
interface SourceRequest {
  readonly operation: SourceOperation;
  readonly key: string;
}

const RETRY_AFTER_MS = 10_000;

export function createFailover(options: FailoverOptions): Failover {
  const { sources, breakers, clock, onOutcome } = options;

  async function ask<T>(
    source: ChannelSource,
    { operation, key }: SourceRequest,
    signal: AbortSignal,
    work: (options: LoadOptions) => Promise<T>,
  ): Promise<T> {
    const startedAt = clock.monotonic();
    const report = (outcome: SourceOutcome['outcome'], error?: unknown) => {
      const durationMs = clock.monotonic() - startedAt;
      onOutcome?.({ source: source.name, operation, outcome, durationMs, ...(error === undefined ? {} : { error }) });
    };
    const attempt = () =>
      withDeadline(clock, TIME_LIMITS_MS.sourceAttempt, signal, (attemptSignal) => work({ signal: attemptSignal }));
    const breaker = breakers?.get(source.name);
    const guarded = () => (breaker === undefined ? attempt() : breaker.execute(`${operation} ${key}`, attempt, signal));
    try {
      const value = await traced(
        { name: `source ${operation}`, attributes: { 'pennant.source': source.name } },
        guarded,
      );
      report('found');
      return value;
    } catch (error) {
      report(errorCodeOf(error), error);
      throw error;
    }
  }

  /** Tries the sources in order. Returns the first value, and the source that it came from. */
  async function tryInOrder<T>(
    request: SourceRequest,
    signal: AbortSignal,
    work: (source: ChannelSource, options: LoadOptions) => Promise<T>,
  ): Promise<{ value: T; source: ChannelSource }> {
    const indeterminate: AppError[] = [];
    let notFound: AppError | undefined;
    for (const source of sources) {
      try {
        return { value: await ask(source, request, signal, (attempt) => work(source, attempt)), source };
      } catch (error) {
        if (isIndeterminate(error)) indeterminate.push(error);
        else if (isNotFound(error) && !source.isLive) notFound = error;
        else throw error;
      }
    }
    const failure = mostTelling(indeterminate);
    if (failure !== undefined) throw withRetryAfter(failure);
    throw notFound ?? new AppError('channel_not_found', NO_SOURCE);
  }

  async function fillFromNext(
    loaded: LoadedChannel,
    winner: ChannelSource,
    signal: AbortSignal,
  ): Promise<LoadedChannel> {
    const next = sources.slice(sources.indexOf(winner) + 1).find((source) => source.isLive);
    if (next === undefined || !winner.isLive) return loaded;
    return fillMissingFields(loaded, (channelId) =>
      withDeadline(clock, TIME_LIMITS_MS.fillMissingFields, signal, (patience) =>
        ask(next, { operation: 'getChannel', key: channelId }, patience, (attempt) =>
          next.getChannel(channelId, attempt),
        ),
      ),
    );
  }

  /** Bypasses the breaker: feeds fail for days while everything else works, and must not pause their source. */
  async function findPublishedAtOf(
    source: ChannelSource,
    channelId: string,
    signal: AbortSignal,
  ): Promise<string | null> {
    const find = source.findPublishedAt?.bind(source);
    if (find === undefined) return null;
    try {
      return await withDeadline(clock, TIME_LIMITS_MS.sourceAttempt, signal, (attemptSignal) =>
        find(channelId, { signal: attemptSignal }),
      );
    } catch (error) {
      if (error instanceof AppError) return null;
      throw error;
    }
  }

  async function searchPage(
    source: ChannelSource,
    query: string,
    limit: number,
    signal: AbortSignal,
    from: string | undefined,
  ): Promise<SearchResult> {
    const place = from === undefined ? {} : { from };
    const key = from === undefined ? query : `${query} ${from}`;
    const { hits, next } = await ask(source, { operation: 'search', key }, signal, (attempt) =>
      source.search(query, limit, { ...attempt, ...place }),
    );
    return { hits, next: next === undefined ? {} : { [source.name]: next } };
  }

  function withinRequest<T>(
    caller: Partial<LoadOptions> | undefined,
    work: (signal: AbortSignal) => Promise<T>,
  ): Promise<T> {
    return withDeadline(clock, TIME_LIMITS_MS.request, caller?.signal ?? new AbortController().signal, work);
  }

  return {
    resolve(ref, caller) {
      return withinRequest(caller, async (signal) => {
        const request = { operation: 'resolve', key: `${ref.kind} ${ref.key}` } as const;
        const { value, source } = await tryInOrder(request, signal, (each, attempt) => each.resolve(ref, attempt));
        if (value.loaded === undefined) return value;
        return { ...value, loaded: await fillFromNext(withRestOf(source, value.loaded), source, signal) };
      });
    },

    getChannel(channelId, caller) {
      return withinRequest(caller, async (signal) => {
        const request = { operation: 'getChannel', key: channelId } as const;
        const { value, source } = await tryInOrder(request, signal, (each, attempt) =>
          each.getChannel(channelId, attempt),
        );
        return fillFromNext(withRestOf(source, value), source, signal);
      });
    },

    getRest(channelId, rest, caller) {
      return withinRequest(caller, async (signal) => {
        const { source, place } = findSourceOfRest(sources, rest);
        const request = { operation: 'getRest', key: channelId } as const;
        return ask(source, request, signal, (attempt) => source.getRest(channelId, place, attempt));
      });
    },

    search(query, limit, { from, ...caller } = {}) {
      return withinRequest(caller, async (signal) => {
        if (sources.length === 0) throw new AppError('upstream_unavailable', NO_SOURCE);
        const searched = from === undefined ? sources : sources.filter(({ name }) => Object.hasOwn(from, name));
        const pages = searched.map((source) => ({
          isLive: source.isLive,
          page: searchPage(source, query, limit, signal, from?.[source.name]),
        }));
        try {
          return await searchAll(pages.map(withoutSpentQuota), { clock, waitMs: TIME_LIMITS_MS.slowSourceWait });
        } catch (error) {
          throw isIndeterminate(error) ? withRetryAfter(error) : error;
        }
      });
    },

    findPublishedAt(channelId, caller) {
      return withinRequest(caller, async (signal) => {
        for (const source of sources) {
          const publishedAt = await findPublishedAtOf(source, channelId, signal);
          if (publishedAt !== null) return publishedAt;
        }
        return null;
      });
    },
  };
}

const NO_SOURCE = 'No source of channels is configured.';

/** Prefixes `rest` with the name of the source that can read it. */
function withRestOf({ name }: ChannelSource, loaded: LoadedChannel): LoadedChannel {
  return loaded.rest === undefined ? loaded : { ...loaded, rest: `${name} ${loaded.rest}` };
}

function findSourceOfRest(sources: readonly ChannelSource[], rest: string) {
  const end = rest.indexOf(' ');
  const source = sources.find(({ name }) => name === rest.slice(0, end));
  if (source !== undefined && hasRests(source)) return { source, place: rest.slice(end + 1) };
  throw new AppError('upstream_unavailable', 'The source of this channel is no longer configured.');
}

function hasRests(source: ChannelSource): source is ChannelSource & Required<Pick<ChannelSource, 'getRest'>> {
  return source.getRest !== undefined;
}

interface SearchedPage {
  readonly isLive: boolean;
  readonly page: Promise<SearchResult>;
}

/**
 * Ignores a source with a spent quota if another live source returned a page. Otherwise no list could be cached for the
 * rest of the day.
 */
async function withoutSpentQuota(
  { page }: SearchedPage,
  index: number,
  all: readonly SearchedPage[],
): Promise<SearchResult> {
  try {
    return await page;
  } catch (error) {
    if (!(error instanceof QuotaSpentError)) throw error;
    const others = all.filter(({ isLive }, at) => isLive && at !== index);
    const results = await Promise.allSettled(others.map((other) => other.page));
    if (!results.some(({ status }) => status === 'fulfilled')) throw error;
    return { hits: [], next: {} };
  }
}

function isNotFound(error: unknown): error is AppError {
  return error instanceof AppError && error.code === 'channel_not_found';
}

function withRetryAfter(error: AppError): AppError {
  if (error.retryAfterMs !== undefined) return error;
  return new AppError(error.code, error.message, { cause: error, retryAfterMs: RETRY_AFTER_MS });
}
