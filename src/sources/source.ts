import type { Channel, FeedValues, KnownChannel, SearchHit } from '../domain/channel.ts';
import { AppError, errorCodeOf } from '../domain/errors.ts';
import type { Identifier } from '../domain/identifier.ts';

/** One HTTP request to a YouTube API, with its body. */
export const UPSTREAM_CALL_MS = 5_000;

export interface LoadOptions {
  /** Aborted when the result is no longer needed. The source then closes its sockets. */
  readonly signal: AbortSignal;
}

export interface ChannelOptions extends LoadOptions {
  /** Values of it that are still true need not be loaded again. */
  readonly known?: KnownChannel | undefined;
}

export interface Resolution {
  /** The canonical channel ID. It differs from the requested ID if YouTube redirects. */
  readonly channelId: string;
  /** Set if the lookup returned the complete record, which then need not be loaded again. */
  readonly loaded?: LoadedChannel;
}

export interface LoadedChannel {
  readonly channel: Channel;
  /** False if a part is lost that has several fields: the record is then loaded again after 60 s. */
  readonly isComplete: boolean;
  /** Fields that are `null`, or a rounded count, although the channel may have them: a call failed, or they cannot be read. */
  readonly missing: readonly (keyof Channel)[];
  /** Set if the record has values of the channel's feed. */
  readonly feed?: FeedValues | undefined;
}

/**
 * Where channels come from. Every source passes `test/contracts/source.ts`.
 *
 * There are three outcomes: a value (found), `AppError` `channel_not_found` (definitely none, which is final), and `AppError`
 * `upstream_unavailable`, `upstream_timeout` or `upstream_invalid` (could not tell).
 */
export interface ChannelSource {
  readonly name: string;
  /** Finds the channel of a handle or user name. */
  resolve(identifier: Identifier, options: LoadOptions): Promise<Resolution>;
  getChannel(channelId: string, options: ChannelOptions): Promise<LoadedChannel>;
  /** The matching channels, best first; empty if nothing matches. There may be more than `MAX_HITS` if the source has no limit. */
  search(query: string, options: LoadOptions): Promise<readonly SearchHit[]>;
}

/** The definite answer of a source that has no such channel. @param cause what YouTube said, for the log */
export function channelNotFound(cause: string): AppError {
  return new AppError('channel_not_found', 'There is no such channel.', { cause: new Error(cause) });
}

/**
 * Loads the channel of the first identifier that is one.
 *
 * @throws AppError `channel_not_found` if none is, and any other failure of the source at once
 */
export async function loadFirst(
  source: Pick<ChannelSource, 'resolve' | 'getChannel'>,
  identifiers: readonly Identifier[],
  options: LoadOptions,
): Promise<{ readonly identifier: Identifier; readonly loaded: LoadedChannel }> {
  let notFound: unknown;
  for (const identifier of identifiers) {
    try {
      const { channelId, loaded } =
        identifier.kind === 'id' ? { channelId: identifier.value } : await source.resolve(identifier, options);
      return { identifier, loaded: loaded ?? (await source.getChannel(channelId, options)) };
    } catch (error) {
      if (errorCodeOf(error) !== 'channel_not_found') throw error;
      notFound = error;
    }
  }
  throw notFound;
}

/** What the responses say about one field of a channel. */
export type FieldResult =
  | { readonly state: 'found'; readonly value: unknown; readonly path: string }
  /** There is a value, in an unknown form. */
  | { readonly state: 'unreadable'; readonly path: string; readonly text: string }
  /** Every ordinary channel has it, but its place is not in the responses. A rounded count may stand in for it. */
  | { readonly state: 'lost'; readonly value?: unknown; readonly path?: string }
  /** The channel may have none, or hide it. */
  | { readonly state: 'absent' };
