import type { Clock } from '../lib/clock.ts';
import { withinMs } from '../lib/work.ts';
import { type AnnouncedChange, mergeChanges } from '../store/changes.ts';

/** A part of the stores that removes what changes concern. */
interface RemovalPart<T> {
  /** For messages. */
  readonly name: string;
  /** What it removes counts as absent from the call on, not only after its first `await`. */
  remove(announced: readonly AnnouncedChange[]): Promise<T>;
}

interface RemovalsOptions<T> {
  readonly clock: Clock;
  readonly parts: readonly RemovalPart<T>[];
  /** Called with the names of the parts that are retried; empty once everything is removed. */
  readonly onStateChange: (waiting: readonly string[], error?: unknown) => void;
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

export type Removals<T> = ReturnType<typeof createRemovals<T>>;

/** Applies changes to all parts. A part that fails is retried until it succeeds. */
export function createRemovals<T>({ clock, parts, onStateChange }: RemovalsOptions<T>) {
  /** Changes that parts have not applied yet. */
  const waiting = new Map<RemovalPart<T>, readonly AnnouncedChange[]>();
  let cancelRetry: (() => void) | undefined;
  let isClosed = false;
  const running = new Set<Promise<unknown>>();

  /** Rejects if the part fails; it is then retried. */
  async function removeFrom(part: RemovalPart<T>, announced: readonly AnnouncedChange[]): Promise<T> {
    const removing = part.remove(announced).finally(() => running.delete(removing));
    running.add(removing);
    try {
      return await removing;
    } catch (error) {
      const all = [...announced, ...(waiting.get(part) ?? [])];
      waiting.set(part, all.length > MAX_WAITING ? [all.reduce(mergeAnnounced)] : all);
      reportState(error);
      if (!isClosed) cancelRetry ??= clock.after(RETRY_MS, retry);
      throw error;
    }
  }

  function retry(): void {
    cancelRetry = undefined;
    for (const [part, announced] of [...waiting]) {
      waiting.delete(part);
      removeFrom(part, announced).then(
        () => reportState(),
        () => undefined,
      );
    }
  }

  function reportState(error?: unknown): void {
    const names = Array.from(waiting.keys(), ({ name }) => name);
    onStateChange(names, error);
  }

  return {
    /**
     * Resolves with the results of all parts when every part has succeeded.
     *
     * @throws RemovalDelayed when a part failed; the others have finished, and the failed part is retried
     */
    async remove(announced: readonly AnnouncedChange[]): Promise<T[]> {
      const outcomes = await Promise.allSettled(parts.map((part) => removeFrom(part, announced)));
      const failed = parts.filter((_, at) => outcomes[at]?.status === 'rejected').map(({ name }) => name);
      const cause: unknown = outcomes.find((outcome) => outcome.status === 'rejected')?.reason;
      if (failed.length > 0) throw new RemovalDelayed(failed, cause);
      return outcomes.flatMap((outcome) => (outcome.status === 'fulfilled' ? [outcome.value] : []));
    },

    /** Cancels retries, and waits some seconds for current removals. */
    async close(): Promise<void> {
      isClosed = true;
      cancelRetry?.();
      await withinMs(clock, Promise.allSettled(running), CLOSE_MS);
    },
  };
}

function mergeAnnounced(first: AnnouncedChange, second: AnnouncedChange): AnnouncedChange {
  return { ...second, change: mergeChanges(first.change, second.change) };
}
