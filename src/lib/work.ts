import { AsyncLocalStorage } from 'node:async_hooks';
import { setImmediate } from 'node:timers/promises';
import { AppError } from '../domain/errors.ts';
import type { Clock } from './clock.ts';
import type { Epoch } from './epoch.ts';

/*
 * The context of the current work, as in Go's package "context": the request that it belongs to, its deadline, its
 * cancellation. Also work that several callers share.
 */

/** A client, and the network that it is in. Both are opaque. */
export interface ClientKeys {
  readonly key: string;
  readonly network: string;
}

/** The client of the service's own work. */
export const OWN_WORK: ClientKeys = { key: '', network: '' };

/** The request that the current work belongs to. */
interface RequestIdentity {
  readonly requestId: string;
  readonly client: ClientKeys;
}

interface WorkContext extends Partial<RequestIdentity> {
  /** The epoch in which the work began. */
  readonly epoch: Epoch;
}

const contexts = new AsyncLocalStorage<WorkContext>();

/**
 * Runs a request's work, across all awaits: its log lines name the request, and its calls to upstream count for the
 * client. Shared work, and work that continues after the response, belongs to the request that started it.
 */
export function withRequest<T>(context: RequestIdentity & { readonly epoch: Epoch }, work: () => T): T {
  const { requestId, client, epoch } = context;
  return contexts.run({ requestId, client, epoch }, work);
}

/** About 2 ms of hashing. */
const STEP_BYTES = 4 * 1024 * 1024;

/** The bytes in parts, with a turn of the event loop between them: hashing 16 MiB at once would block it for too long. */
export async function* inSteps(bytes: Buffer): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += STEP_BYTES) {
    if (at > 0) await setImmediate();
    yield bytes.subarray(at, at + STEP_BYTES);
  }
}

/** Runs work whose result is cached: as part of the current work, or as new work of this epoch if there is none. */
export function asWork<T>(epoch: Epoch, work: () => T): T {
  return contexts.getStore() === undefined ? contexts.run({ epoch }, work) : work();
}

/** `undefined` outside of a request: timers, start and stop. */
export function currentRequestId(): string | undefined {
  return contexts.getStore()?.requestId;
}

/** `OWN_WORK` outside of a request. */
export function currentClient(): ClientKeys {
  return contexts.getStore()?.client ?? OWN_WORK;
}

/** The epoch in which the current work began. Outside of any work: one that does not end, without an ID. */
export function epochOfWork(): Epoch {
  return contexts.getStore()?.epoch ?? ENDLESS;
}

const ENDLESS: Epoch = { id: '', hasEnded: false };

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

/** The signal of work that continues without its callers. */
export const NEVER_ABORTED: AbortSignal = new AbortController().signal;

const TOO_LATE = 'The upstream did not respond in time.';

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

/** The promise's value. The work continues after the time-out. @throws Error when it does not settle within `ms` */
export async function responseWithinMs<T>(clock: Clock, promise: Promise<T>, ms: number, from: string): Promise<T> {
  const response = promise.then((value) => ({ value }));
  const settled = await withinMs(clock, response, ms);
  if (settled === undefined) throw new Error(`no response from ${from} within ${ms} ms`);
  return settled.value;
}

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
