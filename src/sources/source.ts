import type { Channel, SearchHit } from '../domain/channel.ts';
import type { ChannelRef } from '../domain/identifier.ts';
import type { SourceStatus } from '../domain/source-status.ts';
import type { HolderStats } from '../lib/holders.ts';

export interface LoadOptions {
  /** Aborted when the answer can no longer be used; the source then gives up its sockets. */
  readonly signal: AbortSignal;
}

export interface Resolution {
  /** The canonical channel ID; may differ from an ID that was asked for when upstream redirects. */
  readonly channelId: string;
  /** Where the look-up brings the whole record along, it is not asked for again. */
  readonly loaded?: LoadedChannel;
}

export interface LoadedChannel {
  readonly channel: Channel;
  /**
   * False when a part of the answer failed: the fields named in `missing` are null for want of an answer, not because
   * upstream left them out; a count among them may be a rounded stopgap. Such a record lives 60 s and never replaces a fuller one.
   */
  readonly isComplete: boolean;
  readonly missing: readonly (keyof Channel)[];
  /** How to ask for the missing fields alone (`getRest`). Only the source that made it can read it. */
  readonly rest?: string;
}

export interface SearchOptions extends LoadOptions {
  /** Continues there, a `next` of this source, instead of starting anew. */
  readonly from?: string;
}

/** A part of a list of hits. */
export interface SearchPage {
  /** Best first. */
  readonly hits: readonly SearchHit[];
  /** Where the list goes on; absent at its end. Only the source that made it can read it. */
  readonly next?: string;
}

/**
 * Where channels come from. Every source passes `test/contracts/source.ts`.
 *
 * Three outcomes are kept apart: a value (found), `AppError` `channel_not_found` (certainly none), and `AppError`
 * `upstream_unavailable`, `upstream_timeout` or `upstream_invalid` (could not tell).
 */
export interface ChannelSource {
  readonly name: string;
  /** A live source's "no such channel" is final; the catalog's only counts where it is the only source. */
  readonly isLive: boolean;
  /** Finds the channel that a handle or user name stands for. */
  resolve(ref: ChannelRef, options: LoadOptions): Promise<Resolution>;
  /** Loads a channel by ID. */
  getChannel(channelId: string, options: LoadOptions): Promise<LoadedChannel>;
  /**
   * The fields that were missing when `getChannel` answered with this `rest`, and perhaps others; `null` where the
   * channel has none.
   */
  getRest?(channelId: string, rest: string, options: LoadOptions): Promise<Partial<Channel>>;
  /**
   * One page of the channels that match, an empty one when nothing does. It has `limit` hits where the source chooses
   * the length of its pages; otherwise it may have more or fewer.
   */
  search(query: string, limit: number, options: SearchOptions): Promise<SearchPage>;
  /**
   * The second in which the channel was created (`YYYY-MM-DDThh:mm:ssZ`), where `getChannel` may know the day only; best
   * effort. `null` means that the source does not say now: it says nothing about the channel, not even that there is one.
   */
  findPublishedAt?(channelId: string, options: LoadOptions): Promise<string | null>;
  /** What it holds of requests under way and of answers, by name. */
  readonly holders?: Readonly<Record<string, () => HolderStats>>;
  /** What an operator should know of it. */
  status?(): SourceStatus;
  /** Called about once a minute: what the source has to do beside requests. Rejects only for a bug. */
  runDueWork?(): Promise<void>;
  close(): Promise<void>;
}

/** A source that can say when a channel was created. */
export type SourceWithDates = ChannelSource & Required<Pick<ChannelSource, 'findPublishedAt'>>;

/** A task that only one instance of a fleet should do at a time. */
export interface Lease {
  /**
   * @returns true where this instance may do the task now; nobody else may for `ttlMs`. Where the fleet cannot be asked
   * every instance may: each then works alone.
   */
  tryAcquire(task: string, ttlMs: number): Promise<boolean>;
}

/** For an instance that shares nothing. */
export const SOLO_LEASE: Lease = { tryAcquire: async () => true };

/** One text that outlives the process; instances of a fleet share it. A broken store is a text that is not there. */
export interface KeptText {
  read(): Promise<string | undefined>;
  write(text: string): Promise<void>;
}

/**
 * How a field of a record came out of an upstream answer:
 * - `fine`: from where the newest layout has it
 * - `absent`: the channel need not have it
 * - `older`: only from where an older layout has it
 * - `rounded`: only as a rounded stopgap
 * - `unreadable`: something stands where the newest layout has it, in an unknown form
 * - `missing`: nowhere, though every ordinary channel has it
 */
export type FieldState = 'fine' | 'absent' | 'older' | 'rounded' | 'unreadable' | 'missing';

export interface FieldFinding {
  readonly field: string;
  readonly state: FieldState;
  /** As a record has it; `null` where nothing could be read. */
  readonly value: unknown;
  /** The part of the answer that carried it. */
  readonly path: string | null;
  /** What an operator should know beyond the state. */
  readonly note: string | null;
}

/** True for what the service copes with or leaves out, but would not see while upstream is as it is known to be. */
export function isDrift({ state }: FieldFinding): boolean {
  return state !== 'fine' && state !== 'absent';
}
