import type { Clock } from '../lib/clock.ts';
import { withinMs } from '../lib/work.ts';
import { type AnnouncedChange, mergeChanges } from '../store/changes.ts';

/** A part of the stores that removes what changes concern. */
export interface RemovalPart<T> {
  /** For messages. */
  readonly name: string;
  remove(announced: readonly AnnouncedChange[]): Promise<T>;
}

export interface RemovalsOptions<T> {
  readonly clock: Clock;
  readonly parts: readonly RemovalPart<T>[];
  /** Called with the names of the parts that are retried; empty once everything is removed. */
  readonly onStateChange: (waiting: readonly string[], error?: unknown) => void;
}

/** Applies changes to all parts. A part that fails is retried until it succeeds. */
export interface Removals<T> {
  /**
   * Resolves with the results of all parts when every part has succeeded.
   *
   * @throws RemovalDelayed when a part failed; the others have finished, and the failed part is retried
   */
  remove(announced: readonly AnnouncedChange[]): Promise<T[]>;
  /** Cancels retries, and waits some seconds for current removals. */
  close(): Promise<void>;
}

/** The message names the parts and is for the operator. */
export class RemovalDelayed extends Error {
  constructor(parts: readonly string[], cause: unknown) {
    super(`it is still in ${parts.join(' and ')}`, { cause });
    this.name = 'RemovalDelayed';
  }
}

const RETRY_MS = 1_000;
/** A service has ten seconds to stop. The next start completes the removal. */
const CLOSE_MS = 5_000;
/** More changes are merged into one. */
const MAX_WAITING = 100;

export function createRemovals<T>({ clock, parts, onStateChange }: RemovalsOptions<T>): Removals<T> {
  /** Changes that parts have not applied yet. */
  const waiting = new Map<RemovalPart<T>, readonly AnnouncedChange[]>();
  let cancelRetry: (() => void) | undefined;
  let isClosed = false;
  const underWay = new Set<Promise<unknown>>();

  function removeFrom(part: RemovalPart<T>, announced: readonly AnnouncedChange[]): Promise<T> {
    const removing = part.remove(announced).finally(() => underWay.delete(removing));
    underWay.add(removing);
    return removing;
  }

  function wait(part: RemovalPart<T>, announced: readonly AnnouncedChange[], error: unknown): void {
    const all = [...announced, ...(waiting.get(part) ?? [])];
    waiting.set(part, all.length > MAX_WAITING ? [all.reduce(mergeAnnounced)] : all);
    onStateChange(names(waiting), error);
    if (cancelRetry !== undefined || isClosed) return;
    cancelRetry = clock.after(RETRY_MS, () => {
      cancelRetry = undefined;
      for (const [part, announced] of [...waiting]) void retryPart(part, announced);
    });
  }

  async function retryPart(part: RemovalPart<T>, announced: readonly AnnouncedChange[]): Promise<void> {
    waiting.delete(part);
    try {
      await removeFrom(part, announced);
      onStateChange(names(waiting));
    } catch (error) {
      wait(part, announced, error);
    }
  }

  return {
    async remove(announced) {
      const outcomes = await Promise.allSettled(parts.map((part) => removeFrom(part, announced)));
      const failed = parts.flatMap((part, at) => {
        const outcome = outcomes[at];
        return outcome?.status === 'rejected' ? [{ part, reason: outcome.reason as unknown }] : [];
      });
      for (const { part, reason } of failed) wait(part, announced, reason);
      const [first] = failed;
      if (first !== undefined) throw new RemovalDelayed(names(failed.map(({ part }) => [part])), first.reason);
      return outcomes.flatMap((outcome) => (outcome.status === 'fulfilled' ? [outcome.value] : []));
    },

    async close() {
      isClosed = true;
      cancelRetry?.();
      await withinMs(clock, Promise.allSettled(underWay), CLOSE_MS);
    },
  };
}

function names(parts: Iterable<readonly [RemovalPart<unknown>, ...unknown[]]>): string[] {
  return [...parts].map(([{ name }]) => name);
}

function mergeAnnounced(first: AnnouncedChange, second: AnnouncedChange): AnnouncedChange {
  return { ...second, change: mergeChanges(first.change, second.change) };
}
