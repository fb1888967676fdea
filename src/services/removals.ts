import { mergeChanges } from '../cache/change.ts';
import type { Announced } from '../cache/changes.ts';
import type { Clock } from '../lib/clock.ts';

/** Something that a change has to be removed from. */
export interface RemovalPart<T> {
  /** For messages. */
  readonly name: string;
  remove(announced: readonly Announced[]): Promise<T>;
}

export interface RemovalsOptions<T> {
  readonly clock: Clock;
  readonly parts: readonly RemovalPart<T>[];
  /** Called with the parts that are tried again, and with none once everything is removed. */
  readonly onStateChange: (waiting: readonly string[], error?: unknown) => void;
}

/** Removes what changes take away from every part. A part that fails is tried again until it succeeds. */
export interface Removals<T> {
  /**
   * Resolves when every part has removed it, with what each of them says.
   *
   * @throws RemovalDelayed when a part failed; all others are done, and that one is tried again
   */
  remove(announced: readonly Announced[]): Promise<T[]>;
  /** Tries again what failed. */
  retry(): Promise<void>;
  close(): void;
}

/** The message names the parts and is for the operator. */
export class RemovalDelayed extends Error {
  constructor(parts: readonly string[], cause: unknown) {
    super(`it is still in ${parts.join(' and ')}`, { cause });
    this.name = 'RemovalDelayed';
  }
}

const RETRY_MS = 1_000;
/** More are taken as one. */
const MAX_WAITING = 100;

export function createRemovals<T>({ clock, parts, onStateChange }: RemovalsOptions<T>): Removals<T> {
  /** What each part has not removed yet. */
  const waiting = new Map<RemovalPart<T>, readonly Announced[]>();
  let retrying: Promise<void> | undefined;
  let cancelRetry: (() => void) | undefined;
  let isClosed = false;

  function wait(part: RemovalPart<T>, announced: readonly Announced[], error: unknown): void {
    const all = [...announced, ...(waiting.get(part) ?? [])];
    waiting.set(part, all.length > MAX_WAITING ? [all.reduce(mergeAnnounced)] : all);
    onStateChange(names(waiting), error);
    if (cancelRetry !== undefined || isClosed) return;
    cancelRetry = clock.after(RETRY_MS, () => {
      cancelRetry = undefined;
      void retry();
    });
  }

  async function retryPart(part: RemovalPart<T>, announced: readonly Announced[]): Promise<void> {
    waiting.delete(part);
    try {
      await part.remove(announced);
      onStateChange(names(waiting));
    } catch (error) {
      wait(part, announced, error);
    }
  }

  function retry(): Promise<void> {
    retrying ??= Promise.all([...waiting].map(([part, announced]) => retryPart(part, announced)))
      .then(() => undefined)
      .finally(() => {
        retrying = undefined;
      });
    return retrying;
  }

  return {
    async remove(announced) {
      const outcomes = await Promise.allSettled(parts.map((part) => part.remove(announced)));
      const failed = parts.flatMap((part, at) => {
        const outcome = outcomes[at];
        return outcome?.status === 'rejected' ? [{ part, reason: outcome.reason as unknown }] : [];
      });
      for (const { part, reason } of failed) wait(part, announced, reason);
      const [first] = failed;
      if (first !== undefined) throw new RemovalDelayed(names(failed.map(({ part }) => [part])), first.reason);
      return outcomes.flatMap((outcome) => (outcome.status === 'fulfilled' ? [outcome.value] : []));
    },

    retry,

    close() {
      isClosed = true;
      cancelRetry?.();
    },
  };
}

function names(parts: Iterable<readonly [RemovalPart<unknown>, ...unknown[]]>): string[] {
  return [...parts].map(([{ name }]) => name);
}

function mergeAnnounced(first: Announced, second: Announced): Announced {
  return { ...second, change: mergeChanges(first.change, second.change) };
}
