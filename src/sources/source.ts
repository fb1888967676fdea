import type { Channel, SearchHit } from '../domain/channel.ts';
import { errorCodeOf } from '../domain/errors.ts';
import type { ChannelRef } from '../domain/identifier.ts';
import type { SourceStatus } from '../domain/source-status.ts';

/** One HTTP request to an upstream API, with its body. */
export const UPSTREAM_CALL_MS = 5_000;

export interface LoadOptions {
  /** The disconnect signal: aborted when no request waits for the result. The source then closes its sockets. */
  readonly signal: AbortSignal;
}

/** What a channel's feed says, with the values of the page that it was loaded beside. */
export interface FeedValues extends Pick<Channel, 'title' | 'publishedAt'> {
  readonly page: Pick<Channel, 'title' | 'publishedAt'>;
}

/** What the last load of a channel found. */
export interface KnownChannel {
  readonly channel: Channel;
  readonly feed?: FeedValues | undefined;
}

export interface ChannelOptions extends LoadOptions {
  /** Values of it that are still true need not be asked for again. */
  readonly known?: KnownChannel | undefined;
}

export interface Resolution {
  /** The canonical channel ID. It differs from the requested ID if upstream redirects. */
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

export interface SearchPage {
  /** Best first. */
  readonly hits: readonly SearchHit[];
}

/**
 * Where channels come from. Every source passes `test/contracts/source.ts`.
 *
 * There are three outcomes: a value (found), `AppError` `channel_not_found` (definitely none, which is final), and `AppError`
 * `upstream_unavailable`, `upstream_timeout` or `upstream_invalid` (indeterminate).
 */
export interface ChannelSource {
  readonly name: string;
  /** Where it sends its requests: `https://host`. */
  readonly origin?: string;
  /** Finds the channel of a handle or user name. */
  resolve(ref: ChannelRef, options: LoadOptions): Promise<Resolution>;
  getChannel(channelId: string, options: ChannelOptions): Promise<LoadedChannel>;
  /**
   * Returns the matching channels, empty if nothing matches. There are at most `limit` hits if the source can
   * choose their number; otherwise there may be more.
   */
  search(query: string, limit: number, options: LoadOptions): Promise<SearchPage>;
  /** Details for the operator. */
  status?(): SourceStatus;
  close(): Promise<void>;
}

/**
 * Loads the channel of the first reference that is one.
 *
 * @throws AppError `channel_not_found` if none is, and any other failure of the source at once
 */
export async function loadFirst(
  source: Pick<ChannelSource, 'resolve' | 'getChannel'>,
  refs: readonly ChannelRef[],
  options: LoadOptions,
): Promise<{ readonly ref: ChannelRef; readonly loaded: LoadedChannel }> {
  let notFound: unknown;
  for (const ref of refs) {
    try {
      const { channelId, loaded } = ref.kind === 'id' ? { channelId: ref.value } : await source.resolve(ref, options);
      return { ref, loaded: loaded ?? (await source.getChannel(channelId, options)) };
    } catch (error) {
      if (errorCodeOf(error) !== 'channel_not_found') throw error;
      notFound = error;
    }
  }
  throw notFound;
}

/**
 * One text that outlives the process and is shared between instances. If the store fails, the text is absent. The reader checks
 * it, because the store may be shared or damaged.
 */
export interface KeptText {
  read(): Promise<string | undefined>;
  write(text: string): Promise<void>;
}

/**
 * How a field of a record was found in an upstream response:
 * - `fine`: at its path in the newest layout
 * - `absent`: not found, and optional
 * - `older`: only at a path of an older layout
 * - `rounded`: only as a rounded count
 * - `unreadable`: the value at its path in the newest layout has an unknown form
 * - `missing`: not found, although every ordinary channel has it
 */
type FieldState = 'fine' | 'absent' | 'older' | 'rounded' | 'unreadable' | 'missing';

export interface FieldFinding {
  readonly field: string;
  readonly state: FieldState;
  /** In the form of a record; `null` if nothing could be read. */
  readonly value: unknown;
  /** The path that carried it. */
  readonly path: string | null;
  /** More details for the operator. */
  readonly note: string | null;
}

/** True if upstream has changed, even if the service still finds the field. */
export function isDrift({ state }: FieldFinding): boolean {
  return state !== 'fine' && state !== 'absent';
}
