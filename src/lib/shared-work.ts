import { untilAborted } from './deadline.ts';
import type { HolderStats } from './holders.ts';

/** Runs each piece of work once, however many ask for it at the same time. */
export interface SharedWork<T> {
  /**
   * Joins the work under the key or starts it. `signal` is this caller's: when it fires the caller is given up with its
   * reason, and the work's own signal fires once every caller has gone.
   */
  run(key: string, signal: AbortSignal, start: (signal: AbortSignal) => Promise<T>): Promise<T>;
  isRunning(key: string): boolean;
  /** Work under way: there is one for each key, and none for a key that nobody waits for. */
  stats(): HolderStats;
}

interface Task<T> {
  readonly result: Promise<T>;
  readonly controller: AbortController;
  callers: number;
}

export function createSharedWork<T>(): SharedWork<T> {
  const tasks = new Map<string, Task<T>>();

  function startTask(key: string, start: (signal: AbortSignal) => Promise<T>): Task<T> {
    const controller = new AbortController();
    const result = start(controller.signal).finally(() => {
      if (tasks.get(key) === task) tasks.delete(key);
    });
    const task: Task<T> = { result, controller, callers: 0 };
    // Every caller may have gone when it fails.
    result.catch(() => undefined);
    tasks.set(key, task);
    return task;
  }

  return {
    async run(key, signal, start) {
      signal.throwIfAborted();
      const task = tasks.get(key) ?? startTask(key, start);
      task.callers += 1;
      try {
        return await untilAborted(task.result, signal);
      } finally {
        task.callers -= 1;
        if (task.callers === 0 && tasks.get(key) === task) {
          // Whoever asks from now on starts anew instead of joining work that is being given up.
          tasks.delete(key);
          task.controller.abort();
        }
      }
    },
    isRunning: (key) => tasks.has(key),
    stats: () => ({ entries: tasks.size }),
  };
}

/** The clients that wait for each piece of shared work. */
export interface WaitingClients {
  /** Runs the work; meanwhile the client counts as waiting for the key. */
  during<T>(key: string, client: string, work: () => Promise<T>): Promise<T>;
  /** Whether any other client than this one waits for the key. */
  hasOther(key: string, client: string): boolean;
  stats(): HolderStats;
}

/** Holds one entry for each key: at most as many as there are requests under way. */
export function createWaitingClients(): WaitingClients {
  const waiting = new Map<string, string[]>();

  function leave(key: string, client: string): void {
    const clients = waiting.get(key) ?? [];
    clients.splice(clients.indexOf(client), 1);
    if (clients.length === 0) waiting.delete(key);
  }

  return {
    async during(key, client, work) {
      const clients = waiting.get(key);
      if (clients === undefined) waiting.set(key, [client]);
      else clients.push(client);
      try {
        return await work();
      } finally {
        leave(key, client);
      }
    },
    hasOther: (key, client) => waiting.get(key)?.some((other) => other !== client) === true,
    stats: () => ({ entries: waiting.size }),
  };
}
