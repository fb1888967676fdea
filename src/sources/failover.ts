import type { Channel } from '../domain/channel.ts';
import { AppError, type ErrorCode, errorCodeOf, isCouldNotTell, mostTelling } from '../domain/errors.ts';
import type { ChannelRef } from '../domain/identifier.ts';
import type { Clock } from '../lib/clock.ts';
import { withDeadline } from '../lib/deadline.ts';
import type { CircuitBreaker } from '../lib/http/circuit-breaker.ts';
import { QuotaSpentError } from '../lib/http/own-limit.ts';
import { traced } from '../lib/tracing.ts';
import { completeFrom } from './fill-missing-fields.ts';
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
  /** In the operator's order of preference. */
  readonly sources: readonly ChannelSource[];
  /** By the source's name; a source without one is always asked. */
  readonly breakers?: ReadonlyMap<string, CircuitBreaker>;
  readonly clock: Clock;
  readonly onOutcome?: (outcome: SourceOutcome) => void;
}

/**
 * All sources as one. The first that finds a channel wins; a live source's "no such channel" is final, the catalog's
 * counts only where it is the only source. When no source could tell, the failure that says most is thrown, with the
 * time after which to ask again.
 */
export interface Failover {
  resolve(ref: ChannelRef, options?: LoadOptions): Promise<Resolution>;
  getChannel(channelId: string, options?: LoadOptions): Promise<LoadedChannel>;
  /** The fields that were missing, by the record's `rest`. */
  getRest(channelId: string, rest: string, options?: LoadOptions): Promise<Partial<Channel>>;
  /**
   * What all sources find, one page of each. `from` is the `next` of an earlier result: then only its sources are asked,
   * for the page after it.
   */
  search(query: string, limit: number, options?: FailoverSearchOptions): Promise<SearchResult>;
  /** The exact second a channel was created, from the first source that says it; `null` when none does now. */
  findPublishedAt(channelId: string, options?: LoadOptions): Promise<string | null>;
}

export interface FailoverSearchOptions extends Partial<LoadOptions> {
  readonly from?: FoundChannels['next'] | undefined;
}

/** What a source is asked; its failure may concern this key alone. */
interface Question {
  readonly operation: SourceOperation;
  readonly key: string;
}

const RETRY_AFTER_MS = 10_000;
/** For all sources together. */
const REQUEST_MS = 12_000;
/** For one call of one source. */
const ATTEMPT_MS = 5_000;
/** How long a search waits for slow sources when others have found something. */
const SLOW_SOURCE_WAIT_MS = 3_000;
/** How long a record that lacks fields waits for another source to fill them in. */
const COMPLETION_MS = 1_500;

export function createFailover(options: FailoverOptions): Failover {
  const { sources, breakers, clock, onOutcome } = options;

  async function ask<T>(
    source: ChannelSource,
    { operation, key }: Question,
    signal: AbortSignal,
    work: (options: LoadOptions) => Promise<T>,
  ): Promise<T> {
    const startedAt = clock.monotonic();
    const report = (outcome: SourceOutcome['outcome'], error?: unknown) => {
      const durationMs = clock.monotonic() - startedAt;
      onOutcome?.({ source: source.name, operation, outcome, durationMs, ...(error === undefined ? {} : { error }) });
    };
    const attempt = () => withDeadline(clock, ATTEMPT_MS, signal, (attemptSignal) => work({ signal: attemptSignal }));
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

  /** Asks the sources in order until one knows; also tells which it was. */
  async function askInOrder<T>(
    question: Question,
    signal: AbortSignal,
    work: (source: ChannelSource, options: LoadOptions) => Promise<T>,
  ): Promise<{ value: T; source: ChannelSource }> {
    const couldNotTell: AppError[] = [];
    let notFound: AppError | undefined;
    for (const source of sources) {
      try {
        return { value: await ask(source, question, signal, (attempt) => work(source, attempt)), source };
      } catch (error) {
        if (isCouldNotTell(error)) couldNotTell.push(error);
        else if (isNotFound(error) && !source.isLive) notFound = error;
        else throw error;
      }
    }
    const failure = mostTelling(couldNotTell);
    if (failure !== undefined) throw withRetryAfter(failure);
    throw notFound ?? new AppError('channel_not_found', NOBODY_TO_ASK);
  }

  async function complete(loaded: LoadedChannel, winner: ChannelSource, signal: AbortSignal): Promise<LoadedChannel> {
    const next = sources.slice(sources.indexOf(winner) + 1).find((source) => source.isLive);
    if (next === undefined || !winner.isLive) return loaded;
    return completeFrom(loaded, (channelId) =>
      withDeadline(clock, COMPLETION_MS, signal, (patience) =>
        ask(next, { operation: 'getChannel', key: channelId }, patience, (attempt) =>
          next.getChannel(channelId, attempt),
        ),
      ),
    );
  }

  /** Past the breaker: feeds fail for days while everything else works, and must not take their source with them. */
  async function askBestEffort(source: ChannelSource, channelId: string, signal: AbortSignal): Promise<string | null> {
    const find = source.findPublishedAt?.bind(source);
    if (find === undefined) return null;
    try {
      return await withDeadline(clock, ATTEMPT_MS, signal, (attemptSignal) =>
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
    return withDeadline(clock, REQUEST_MS, caller?.signal ?? new AbortController().signal, work);
  }

  return {
    resolve(ref, caller) {
      return withinRequest(caller, async (signal) => {
        const question = { operation: 'resolve', key: `${ref.kind} ${ref.key}` } as const;
        const { value, source } = await askInOrder(question, signal, (each, attempt) => each.resolve(ref, attempt));
        if (value.loaded === undefined) return value;
        return { ...value, loaded: await complete(withRestOf(source, value.loaded), source, signal) };
      });
    },

    getChannel(channelId, caller) {
      return withinRequest(caller, async (signal) => {
        const question = { operation: 'getChannel', key: channelId } as const;
        const { value, source } = await askInOrder(question, signal, (each, attempt) =>
          each.getChannel(channelId, attempt),
        );
        return complete(withRestOf(source, value), source, signal);
      });
    },

    getRest(channelId, rest, caller) {
      return withinRequest(caller, async (signal) => {
        const { source, place } = findSourceOfRest(sources, rest);
        const question = { operation: 'getRest', key: channelId } as const;
        return ask(source, question, signal, (attempt) => source.getRest(channelId, place, attempt));
      });
    },

    search(query, limit, { from, ...caller } = {}) {
      return withinRequest(caller, async (signal) => {
        if (sources.length === 0) throw new AppError('upstream_unavailable', NOBODY_TO_ASK);
        const asked = from === undefined ? sources : sources.filter(({ name }) => Object.hasOwn(from, name));
        const pages = asked.map((source) => ({
          isLive: source.isLive,
          page: searchPage(source, query, limit, signal, from?.[source.name]),
        }));
        try {
          return await searchAll(pages.map(withoutSpentQuota), { clock, waitMs: SLOW_SOURCE_WAIT_MS });
        } catch (error) {
          throw isCouldNotTell(error) ? withRetryAfter(error) : error;
        }
      });
    },

    findPublishedAt(channelId, caller) {
      return withinRequest(caller, async (signal) => {
        for (const source of sources) {
          const publishedAt = await askBestEffort(source, channelId, signal);
          if (publishedAt !== null) return publishedAt;
        }
        return null;
      });
    },
  };
}

const NOBODY_TO_ASK = 'There is no source of channels to ask.';

/** What a source calls the rest of a record, behind its own name. */
function withRestOf({ name }: ChannelSource, loaded: LoadedChannel): LoadedChannel {
  return loaded.rest === undefined ? loaded : { ...loaded, rest: `${name} ${loaded.rest}` };
}

function findSourceOfRest(sources: readonly ChannelSource[], rest: string) {
  const end = rest.indexOf(' ');
  const source = sources.find(({ name }) => name === rest.slice(0, end));
  if (source !== undefined && hasRests(source)) return { source, place: rest.slice(end + 1) };
  throw new AppError('upstream_unavailable', 'The source of this channel is not asked any more.');
}

function hasRests(source: ChannelSource): source is ChannelSource & Required<Pick<ChannelSource, 'getRest'>> {
  return source.getRest !== undefined;
}

interface AskedPage {
  readonly isLive: boolean;
  readonly page: Promise<SearchResult>;
}

/**
 * A source whose quota is spent was not needed where another live one has answered: without this, no list could be kept
 * for the rest of the day.
 */
async function withoutSpentQuota({ page }: AskedPage, index: number, all: readonly AskedPage[]): Promise<SearchResult> {
  try {
    return await page;
  } catch (error) {
    if (!(error instanceof QuotaSpentError)) throw error;
    const others = all.filter(({ isLive }, at) => isLive && at !== index);
    const answers = await Promise.allSettled(others.map((other) => other.page));
    if (!answers.some(({ status }) => status === 'fulfilled')) throw error;
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
