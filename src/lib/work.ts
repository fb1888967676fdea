import { AsyncLocalStorage } from 'node:async_hooks';
import { AppError } from '../domain/errors.ts';
import type { Clock } from './clock.ts';

/*
 * The context of the current work, as in Go's package "context": the request that it belongs to, its deadline, its
 * cancellation. Also work that several callers share.
 */

/** The request that the current work belongs to. */
export interface RequestContext {
  readonly requestId: string;
  /** The key of the rate limit: an address or a network. */
  readonly client: string;
}

interface WorkContext extends Partial<RequestContext> {
  readonly changeBefore: number;
}

const contexts = new AsyncLocalStorage<WorkContext>();

/**
 * Runs a request's work, across all awaits: its log lines name the request, and its calls to upstream count for the
 * client. Shared work, and work that continues after the response, belongs to the request that started it.
 */
export function withRequest<T>({ requestId, client }: RequestContext, work: () => T): T {
  return contexts.run({ requestId, client, changeBefore: latestChange() }, work);
}

/** Runs work that stores its result, as part of the current work or as new work if there is none. */
export function asWork<T>(work: () => T): T {
  return contexts.getStore() === undefined ? contexts.run({ changeBefore: latestChange() }, work) : work();
}

/** `undefined` outside of a request: timers, start and stop. */
export function currentRequestId(): string | undefined {
  return contexts.getStore()?.requestId;
}

/** `undefined` for the service's own work. */
export function currentClient(): string | undefined {
  return contexts.getStore()?.client;
}

/** The number of the latest change (`nextChange`) when the current work began. */
export function changeBeforeWork(): number {
  return contexts.getStore()?.changeBefore ?? latestChange();
}

/*
 * Purges, take-downs and imports are numbered within the process. Work remembers the latest number when it begins, and
 * stores no values that a later change removes.
 */

let latest = 0;

export function latestChange(): number {
  return latest;
}

export function nextChange(): number {
  latest += 1;
  return latest;
}

/**
 * True if nothing has changed since the work with this number began. Only then may later callers join it, or rely on its
 * failure: it may have read what the change removed or replaced.
 */
export function isCurrentWork(changeBefore: number): boolean {
  return changeBefore === latest;
}

/**
 * Runs `work` with a signal that is aborted after `ms` or with `parent`, and settles at that time at the latest, even if the
 * work ignores the signal.
 *
 * @throws AppError `upstream_timeout` when it is aborted; an `AppError` that `parent` was aborted with is passed on
 */
export async function withDeadline<T>(
  clock: Clock,
  ms: number,
  parent: AbortSignal,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  if (parent.aborted) throw abortError(parent);
  const controller = new AbortController();
  const cancel = clock.after(ms, () => controller.abort(new AppError('upstream_timeout', TOO_LATE)));
  const passOn = () => controller.abort(abortError(parent));
  parent.addEventListener('abort', passOn, { once: true });
  try {
    return await untilAborted(work(controller.signal), controller.signal);
  } finally {
    cancel();
    parent.removeEventListener('abort', passOn);
  }
}

const TOO_LATE = 'The upstream did not answer in time.';

/** The error of an abandoned call: the reason if it is an `AppError`, otherwise `upstream_timeout`. */
export function abortError({ reason }: AbortSignal): AppError {
  return reason instanceof AppError ? reason : new AppError('upstream_timeout', TOO_LATE, { cause: reason });
}

/** The promise's result; rejects with the signal's reason as soon as that is aborted. The work continues. */
export async function untilAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const abort = () => reject(signal.reason);
  if (signal.aborted) abort();
  signal.addEventListener('abort', abort, { once: true });
  try {
    return await Promise.race([aborted, promise]);
  } finally {
    signal.removeEventListener('abort', abort);
  }
}

/** The promise's value if it settles within `ms`, otherwise `undefined`. The work continues. */
export async function withinMs<T>(clock: Clock, promise: Promise<T>, ms: number): Promise<T | undefined> {
  if (ms <= 0) return undefined;
  const { promise: elapsed, resolve } = Promise.withResolvers<undefined>();
  const cancel = clock.after(ms, () => resolve(undefined));
  try {
    return await Promise.race([promise, elapsed]);
  } finally {
    cancel();
  }
}

interface Task<T> {
  readonly result: Promise<T>;
  readonly controller: AbortController;
  readonly changeBefore: number;
  isRunning: boolean;
  callers: number;
}

/** Runs each piece of work once for all concurrent callers, except for callers after a change. */
export function createSharedWork<T>() {
  const tasks = new Map<string, Task<T>>();

  function startTask(key: string, start: (signal: AbortSignal) => Promise<T>): Task<T> {
    const controller = new AbortController();
    const result = start(controller.signal).finally(() => {
      task.isRunning = false;
      forget(key, task);
    });
    const task: Task<T> = { result, controller, changeBefore: changeBeforeWork(), isRunning: true, callers: 0 };
    // All callers may have left when it fails.
    result.catch(() => undefined);
    tasks.set(key, task);
    return task;
  }

  /** Unless other work has replaced it. */
  function forget(key: string, task: Task<T>): void {
    if (tasks.get(key) === task) tasks.delete(key);
  }

  /** The work that a caller may join. */
  function find(key: string): Task<T> | undefined {
    const task = tasks.get(key);
    return task !== undefined && isCurrentWork(task.changeBefore) ? task : undefined;
  }

  return {
    /**
     * Joins the work under the key or starts it. `signal` belongs to this caller: when it is aborted, the call rejects with
     * its reason, and the work's own signal is aborted after the last caller has left.
     */
    async run(key: string, signal: AbortSignal, start: (signal: AbortSignal) => Promise<T>): Promise<T> {
      signal.throwIfAborted();
      const task = find(key) ?? startTask(key, start);
      task.callers += 1;
      try {
        return await untilAborted(task.result, signal);
      } finally {
        task.callers -= 1;
        if (task.callers === 0 && task.isRunning) {
          // Later callers start new work instead of joining work that is being aborted.
          forget(key, task);
          task.controller.abort();
        }
      }
    },
    /** Whether `run` would join work. */
    isRunning: (key: string) => find(key) !== undefined,
    /** Running work: one for each key that a caller waits for. */
    stats: () => ({ entries: tasks.size }),
  };
}

/** The clients that wait for each piece of shared work: for at most as many keys as there are requests under way. */
export function createWaitingClients() {
  const waiting = new Map<string, string[]>();
  return {
    /** Runs the work. Meanwhile the client counts as waiting for the key. */
    async during<T>(key: string, client: string, work: () => Promise<T>): Promise<T> {
      const clients = waiting.get(key) ?? [];
      waiting.set(key, clients);
      clients.push(client);
      try {
        return await work();
      } finally {
        clients.splice(clients.indexOf(client), 1);
        if (clients.length === 0) waiting.delete(key);
      }
    },
    /** Whether any other client than this one waits for the key. */
    hasOther: (key: string, client: string) => waiting.get(key)?.some((other) => other !== client) === true,
    stats: () => ({ entries: waiting.size }),
  };
}
