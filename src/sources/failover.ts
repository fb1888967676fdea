import type { Channel } from '../domain/channel.ts';
import {
  AppError,
  type ErrorCode,
  errorCodeOf,
  isInconclusive,
  isIndeterminate,
  mostSpecificError,
  valueOrError,
} from '../domain/errors.ts';
import { type ChannelRef, comparable } from '../domain/identifier.ts';
import type { Clock } from '../lib/clock.ts';
import { NEVER_ABORTED, withDeadline } from '../lib/deadlines.ts';
import { LocalLimitError } from '../lib/http/call-budget.ts';
import { type Pause, PausedError } from '../lib/http/pause.ts';
import { withPlainTitles } from './plain-titles.ts';
import { type FoundChannels, type SearchOutcome, searchAll } from './search-all.ts';
import type { ChannelSource, LoadedChannel, LoadOptions, Resolution } from './source.ts';

/** One load from all sources together. It may continue after the response that started it. */
export const ALL_SOURCES_MS = 12_000;
/** One call of one source, with its retries. */
export const SOURCE_ATTEMPT_MS = 5_000;
/** A record with missing fields waits for another source to fill them. */
export const FILL_MISSING_FIELDS_MS = 1_500;

/** One call of one source, for metrics and logs. */
export interface SourceOutcome {
  readonly source: string;
  readonly operation: 'resolve' | 'getChannel' | 'search';
  /** `inconclusive`: a readable response that neither has a channel nor says that there is none. */
  readonly outcome: 'found' | 'inconclusive' | ErrorCode;
  readonly durationMs: number;
  /** False if a pause, the call budget or the remembered failure of its key prevented the call. */
  readonly wasMade: boolean;
  readonly error?: unknown;
}

export type PausedOperation = SourceOutcome['operation'] | 'findPublishedAt';

export interface FailoverOptions {
  /** In the order of `SOURCES`, which has at least one. */
  readonly sources: readonly ChannelSource[];
  /** The pause of a source for an operation. */
  readonly pauseOf: (source: ChannelSource, operation: PausedOperation) => Pick<Pause, 'run'>;
  readonly clock: Clock;
  readonly onOutcome?: (outcome: SourceOutcome) => void;
}

interface FailoverSearchOptions extends Partial<LoadOptions> {
  readonly from?: FoundChannels['next'] | undefined;
}

/**
 * All sources as one. Sources are tried in order, and the first one that finds the channel, or knows that there is none, wins.
 * If every source fails, the most specific failure is thrown, with the time after which to retry.
 */
export interface Failover {
  resolve(ref: ChannelRef, caller?: Partial<LoadOptions>): Promise<Resolution>;
  getChannel(channelId: string, caller?: Partial<LoadOptions>): Promise<LoadedChannel>;
  /**
   * Searches all sources, one page each. `from` is the `next` of an earlier result: then only the sources in it are
   * searched, for their next page.
   */
  search(query: string, limit: number, options?: FailoverSearchOptions): Promise<SearchOutcome>;
  /** The exact second a channel was created, from the first source that has it; `null` if none has it now. */
  findPublishedAt(channelId: string, caller?: Partial<LoadOptions>): Promise<string | null>;
}

const RETRY_AFTER_MS = 10_000;

export function createFailover({ pauseOf, clock, onOutcome, ...options }: FailoverOptions): Failover {
  const sources = options.sources.map(withPlainTitles);

  /** @param key names the channel or query, because a failure may concern only that */
  async function callSource<T>(
    source: ChannelSource,
    operation: SourceOutcome['operation'],
    key: string,
    signal: AbortSignal,
    work: (options: LoadOptions) => Promise<T>,
  ): Promise<T> {
    const startedAt = clock.monotonic();
    let isBegun = false;
    function report(outcome: SourceOutcome['outcome'], error?: unknown): void {
      const durationMs = clock.monotonic() - startedAt;
      const wasMade = isBegun && !(error instanceof LocalLimitError);
      onOutcome?.({ source: source.name, operation, outcome, durationMs, wasMade, error });
    }
    const attempt = () => {
      isBegun = true;
      return withDeadline(clock, SOURCE_ATTEMPT_MS, signal, (attemptSignal) => work({ signal: attemptSignal }));
    };
    try {
      const value = await pauseOf(source, operation).run(key, attempt, signal);
      report('found');
      return value;
    } catch (error) {
      // A client that disconnected says nothing about the source.
      if (errorCodeOf(error) !== 'request_timeout') {
        report(isInconclusive(error) ? 'inconclusive' : errorCodeOf(error), error);
      }
      throw error;
    }
  }

  /** Tries the sources in order. Returns the first value, and the source that it came from. */
  async function tryInOrder<T>(
    operation: SourceOutcome['operation'],
    key: string,
    signal: AbortSignal,
    work: (source: ChannelSource, options: LoadOptions) => Promise<T>,
  ): Promise<{ value: T; source: ChannelSource }> {
    const indeterminate: AppError[] = [];
    for (const source of sources) {
      try {
        return { value: await callSource(source, operation, key, signal, (attempt) => work(source, attempt)), source };
      } catch (error) {
        if (!isIndeterminate(error)) throw error;
        indeterminate.push(error);
      }
    }
    throw withRetryAfter(mostSpecificError(indeterminate) as AppError);
  }

  /**
   * Fills missing fields from the next source. Best effort: if that fails, does not know the channel or takes too long, the
   * record stays as it is.
   */
  async function fillFromNextSource(
    loaded: LoadedChannel,
    source: ChannelSource,
    signal: AbortSignal,
  ): Promise<LoadedChannel> {
    const next = sources[sources.indexOf(source) + 1];
    if (next === undefined || emptyFields(loaded).length === 0) return loaded;
    const { channelId } = loaded.channel;
    const loading = withDeadline(clock, FILL_MISSING_FIELDS_MS, signal, (patience) =>
      callSource(next, 'getChannel', channelId, patience, (attempt) => next.getChannel(channelId, attempt)),
    );
    return fillFields(loaded, await valueOrError(loading));
  }

  function withinLimit<T>(caller: Partial<LoadOptions>, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const { signal = NEVER_ABORTED } = caller;
    return withDeadline(clock, ALL_SOURCES_MS, signal, work);
  }

  return {
    resolve(ref, caller = {}) {
      return withinLimit(caller, async (signal) => {
        const key = `${ref.kind} ${ref.key}`;
        const { value, source } = await tryInOrder('resolve', key, signal, (each, attempt) =>
          each.resolve(ref, attempt),
        );
        if (value.loaded === undefined) return value;
        return { ...value, loaded: await fillFromNextSource(value.loaded, source, signal) };
      });
    },

    getChannel(channelId, caller = {}) {
      return withinLimit(caller, async (signal) => {
        const { value, source } = await tryInOrder('getChannel', channelId, signal, (each, attempt) =>
          each.getChannel(channelId, attempt),
        );
        return fillFromNextSource(value, source, signal);
      });
    },

    search(query, limit, { from, ...caller } = {}) {
      async function searchPage(source: ChannelSource, signal: AbortSignal): Promise<SearchOutcome> {
        const place = from?.[source.name];
        // In another letter case it would fail in the same way.
        const text = comparable(query);
        const key = place === undefined ? text : `${text} ${place}`;
        const { hits, next } = await callSource(source, 'search', key, signal, (attempt) =>
          source.search(query, limit, place === undefined ? attempt : { ...attempt, from: place }),
        );
        return { hits, next: next === undefined ? {} : { [source.name]: next } };
      }

      return withinLimit(caller, async (signal) => {
        const searched = from === undefined ? sources : sources.filter(({ name }) => Object.hasOwn(from, name));
        const pages = searched.map((source) => searchPage(source, signal));
        const searches = pages.map((page) => withoutSpentQuota(page, pages));
        try {
          return await searchAll(searches, clock);
        } catch (error) {
          throw isIndeterminate(error) ? withRetryAfter(error) : error;
        }
      });
    },

    findPublishedAt(channelId, caller = {}) {
      return withinLimit(caller, async (signal) => {
        for (const source of sources) {
          const { findPublishedAt } = source;
          if (findPublishedAt === undefined) continue;
          const attempt = () =>
            withDeadline(clock, SOURCE_ATTEMPT_MS, signal, (attemptSignal) =>
              findPublishedAt.call(source, channelId, { signal: attemptSignal }),
            );
          // The same key as for the record, because a source may make the same call.
          const publishedAt = await valueOrError(pauseOf(source, 'findPublishedAt').run(channelId, attempt, signal));
          if (typeof publishedAt === 'string') return publishedAt;
        }
        return null;
      });
    },
  };
}

/** The missing fields, and `links` if the source never has them, as the official API. */
function emptyFields({ channel, missing }: LoadedChannel): readonly (keyof Channel)[] {
  return channel.links === null && !missing.includes('links') ? [...missing, 'links'] : missing;
}

/**
 * Takes the empty fields from another source's record, and every other field that is `null`, which may mean unknown: YouTube
 * shows few fields of age-gated channels. `missing` then names the empty fields that both lack. Nothing is taken from another
 * channel: a source may redirect this one.
 */
function fillFields(loaded: LoadedChannel, other: LoadedChannel | AppError): LoadedChannel {
  const needed = emptyFields(loaded);
  const isSame = !(other instanceof AppError) && other.channel.channelId === loaded.channel.channelId;
  if (!isSame) return { ...loaded, missing: needed };
  const unfilled = emptyFields(other);
  const fields = Object.keys(loaded.channel) as (keyof Channel)[];
  const filled = fields
    .filter((field) => needed.includes(field) || loaded.channel[field] === null)
    .filter((field) => !unfilled.includes(field))
    .map((field) => [field, other.channel[field]]);
  const missing = needed.filter((field) => unfilled.includes(field));
  const channel = { ...loaded.channel, ...Object.fromEntries(filled) };
  // Links that the source never has do not make the record incomplete.
  const isComplete = !loaded.missing.some((field) => missing.includes(field));
  return { ...loaded, channel, isComplete, missing };
}

/**
 * An empty page from a source whose quota is spent if another one responded. With a failure, no list could be stored for the
 * rest of the day.
 */
async function withoutSpentQuota(page: Promise<SearchOutcome>, all: readonly Promise<SearchOutcome>[]) {
  try {
    return await page;
  } catch (error) {
    if (!(error instanceof PausedError) || error.reason !== 'quota') throw error;
    const results = await Promise.allSettled(all);
    if (!results.some(({ status }) => status === 'fulfilled')) throw error;
    return { hits: [], next: {} };
  }
}

function withRetryAfter(error: AppError): AppError {
  if (error.retryAfterMs !== undefined) return error;
  return new AppError(error.code, error.message, { cause: error, retryAfterMs: RETRY_AFTER_MS });
}
