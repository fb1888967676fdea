import { untilAborted } from './deadlines.ts';
import type { Epoch } from './epoch.ts';
import { epochOfWork } from './work.ts';

/**
 * The current work of each key, which other callers may join. They find only work of the current epoch: earlier work may
 * return removed data.
 */
export function createCurrentWork<Work extends object>() {
  const current = new Map<string, { readonly work: Work; readonly epoch: Epoch }>();

  const isLatest = (key: string, work: Work) => current.get(key)?.work === work;

  return {
    /** Returns the work that a caller may join. */
    find(key: string): Work | undefined {
      const found = current.get(key);
      return found === undefined || found.epoch.hasEnded ? undefined : found.work;
    },
    /** Adds work of the caller's own, which replaces the current work of the key. */
    begin(key: string, work: Work): void {
      current.set(key, { work, epoch: epochOfWork() });
    },
    /** False once other work has replaced it. */
    isLatest,
    end(key: string, work: Work): void {
      if (isLatest(key, work)) current.delete(key);
    },
    /** Returns the current work, whenever it began. */
    latest: (key: string): Work | undefined => current.get(key)?.work,
    count: () => current.size,
  };
}

interface Task<T> {
  readonly result: Promise<T>;
  readonly controller: AbortController;
  callers: number;
  hasEnded: boolean;
}

/** Runs each piece of work once for all concurrent callers. */
export function createSharedWork<T>() {
  const tasks = createCurrentWork<Task<T>>();

  function startTask(key: string, start: (signal: AbortSignal) => Promise<T>): Task<T> {
    const controller = new AbortController();
    const result = start(controller.signal).finally(() => {
      task.hasEnded = true;
      tasks.end(key, task);
    });
    const task: Task<T> = { result, controller, callers: 0, hasEnded: false };
    // All callers may have left when it fails.
    result.catch(() => undefined);
    tasks.begin(key, task);
    return task;
  }

  return {
    /**
     * Joins the work under the key or starts it. `signal` belongs to this caller: when it is aborted, the call rejects with
     * its reason. The work's own signal is aborted when the last caller has left.
     */
    async run(key: string, signal: AbortSignal, start: (signal: AbortSignal) => Promise<T>): Promise<T> {
      signal.throwIfAborted();
      const task = tasks.find(key) ?? startTask(key, start);
      task.callers += 1;
      try {
        return await untilAborted(task.result, signal);
      } finally {
        task.callers -= 1;
        if (task.callers === 0 && !task.hasEnded) {
          // Later callers start new work instead of joining work that is being aborted.
          tasks.end(key, task);
          task.controller.abort(signal.reason);
        }
      }
    },
    /** Whether a caller would join running work. */
    isRunning: (key: string) => tasks.find(key) !== undefined,
    /** Running work: one for each key that a caller waits for. */
    stats: () => ({ entries: tasks.count() }),
  };
}
