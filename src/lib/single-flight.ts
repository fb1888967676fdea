import { untilAborted } from './deadlines.ts';

interface Task<T> {
  readonly result: Promise<T>;
  readonly controller: AbortController;
  callers: number;
}

/** Runs each piece of work once for all concurrent callers. */
export function createSingleFlight<T>() {
  const tasks = new Map<string, Task<T>>();

  /** Later callers start new work. */
  function end(key: string, task: Task<T>): void {
    if (tasks.get(key) === task) tasks.delete(key);
  }

  function startTask(key: string, start: (signal: AbortSignal) => Promise<T>): Task<T> {
    const controller = new AbortController();
    const result = start(controller.signal).finally(() => end(key, task));
    const task: Task<T> = { result, controller, callers: 0 };
    // All callers may have left when it fails.
    result.catch(() => undefined);
    tasks.set(key, task);
    return task;
  }

  return {
    /**
     * Joins the work under the key or starts it. `signal` belongs to this caller: when it is aborted, the call rejects with
     * its reason. The work's own signal is aborted when the last caller has left.
     */
    async run(key: string, signal: AbortSignal, start: (signal: AbortSignal) => Promise<T>): Promise<T> {
      signal.throwIfAborted();
      const task = tasks.get(key) ?? startTask(key, start);
      task.callers += 1;
      try {
        return await untilAborted(task.result, signal);
      } finally {
        task.callers -= 1;
        if (task.callers === 0) {
          end(key, task);
          task.controller.abort(signal.reason);
        }
      }
    },
    /** Whether a caller would join running work. */
    isRunning: (key: string) => tasks.has(key),
    /** Running work: one for each key that a caller waits for. */
    stats: () => ({ entries: tasks.size }),
  };
}
