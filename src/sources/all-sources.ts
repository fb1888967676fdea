import {
  AppError,
  clearestError,
  type ErrorCode,
  errorCodeOf,
  isInconclusive,
  isKeyFailure,
  isUpstreamFailure,
} from '../domain/errors.ts';
import type { Identifier } from '../domain/identifier.ts';
import type { Clock } from '../lib/clock.ts';
import { NEVER_ABORTED, withDeadline } from '../lib/deadlines.ts';
import { withPlainTexts } from './plain-texts.ts';
import type { ChannelOptions, ChannelSource, LoadOptions } from './source.ts';

/** One load from all sources together. It continues after the response that started it. */
export const ALL_SOURCES_MS = 12_000;
/** One lookup at one source, with all its calls. */
export const SOURCE_ATTEMPT_MS = 5_000;

/** One lookup at one source, for metrics and logs. */
export interface SourceOutcome {
  readonly source: string;
  readonly operation: 'resolve' | 'getChannel' | 'search';
  /** `inconclusive`: a readable response that neither has a channel nor says that there is none. */
  readonly outcome: 'found' | 'inconclusive' | ErrorCode;
  readonly durationMs: number;
  readonly error?: unknown;
}

export interface SourcesOptions {
  /** They are in the order of `SOURCES`, which has at least one. */
  readonly sources: readonly ChannelSource[];
  readonly clock: Clock;
  readonly onOutcome?: (outcome: SourceOutcome) => void;
}

export type Sources = ReturnType<typeof combineSources>;

/**
 * All sources as one. Sources are tried in order, and the first one that finds the channel, or knows that there is none, wins.
 * If every source fails, the most specific failure is thrown.
 */
export function combineSources({ clock, onOutcome, ...options }: SourcesOptions) {
  const sources = options.sources.map(withPlainTexts);

  async function callSource<T>(
    source: ChannelSource,
    operation: SourceOutcome['operation'],
    signal: AbortSignal,
    work: (options: LoadOptions) => Promise<T>,
  ): Promise<T> {
    const startedAt = clock.monotonic();
    function report(outcome: SourceOutcome['outcome'], error?: unknown): void {
      onOutcome?.({ source: source.name, operation, outcome, durationMs: clock.monotonic() - startedAt, error });
    }
    try {
      const value = await withDeadline(clock, SOURCE_ATTEMPT_MS, signal, (attempt) => work({ signal: attempt }));
      report('found');
      return value;
    } catch (error) {
      report(isInconclusive(error) ? 'inconclusive' : errorCodeOf(error), error);
      throw error;
    }
  }

  /** Tries the sources in order. Returns the first value. */
  async function tryInOrder<T>(
    operation: SourceOutcome['operation'],
    work: (source: ChannelSource, options: LoadOptions) => Promise<T>,
  ): Promise<T> {
    return withDeadline(clock, ALL_SOURCES_MS, NEVER_ABORTED, async (signal) => {
      const failures: AppError[] = [];
      for (const source of sources) {
        try {
          return await callSource(source, operation, signal, (attempt) => work(source, attempt));
        } catch (error) {
          if (!isUpstreamFailure(error)) throw error;
          failures.push(error);
        }
      }
      throw failureOfAll(failures);
    });
  }

  return {
    resolve: (identifier: Identifier) =>
      tryInOrder('resolve', (source, attempt) => source.resolve(identifier, attempt)),

    getChannel: (channelId: string, { known }: Pick<ChannelOptions, 'known'> = {}) =>
      tryInOrder('getChannel', (source, attempt) => source.getChannel(channelId, { ...attempt, known })),

    /** The list of the first source that answers. */
    search: (query: string) => tryInOrder('search', (source, attempt) => source.search(query, attempt)),
  };
}

/** The clearest failure. It ends when the first of them ends, and concerns the key if one of them does. */
function failureOfAll(failures: readonly AppError[]): AppError {
  const clearest = clearestError(failures) as AppError;
  const { code, message, cause } = clearest;
  const { scope } = failures.find(isKeyFailure) ?? clearest;
  const known = failures.flatMap(({ retryAfterMs }) => retryAfterMs ?? []);
  const retryAfterMs = known.length === failures.length ? Math.min(...known) : undefined;
  return new AppError(code, message, { cause, scope, retryAfterMs });
}
