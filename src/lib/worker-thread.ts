import { once } from 'node:events';
import { extname } from 'node:path';
import { isMainThread, parentPort, Worker } from 'node:worker_threads';
import { type Clock, systemClock } from './clock.ts';

/** The functions of a thread by name. Each has one argument. Arguments and results are structured-cloned. */
// biome-ignore lint/suspicious/noExplicitAny: each function has an argument of its own.
type ThreadFunctions = Readonly<Record<string, (argument: any) => unknown>>;

/** The thread ended, is not yet started again, or has too many calls waiting; the call may have been executed. */
class ThreadUnavailable extends Error {
  override name = 'ThreadUnavailable';
}

interface WorkerThreadOptions {
  /** The name of the thread, for debuggers. */
  readonly name: string;
  /** A module that calls `serveCalls`. */
  readonly module: URL;
  readonly workerData: unknown;
  readonly maxCalls: number;
  /** The pause before a new thread is started after one has ended by itself. */
  readonly restartMs: number;
  readonly clock?: Clock;
  /** Called when the thread has ended by itself. */
  readonly onEnded?: (error: Error) => void;
  /** Called with what the thread passes to `notify`. */
  readonly onNotice?: (notice: unknown) => void;
}

interface CallMessage {
  readonly id: number;
  readonly name: string;
  readonly argument: unknown;
}

type ThreadMessage =
  | { readonly id: number; readonly result: unknown }
  | { readonly id: number; readonly error: string }
  | { readonly notice: unknown };

/** Asks the thread to end; no function has this name. */
const CLOSE = '';

/** The module `name` beside the module `url`, with the same extension: the source runs as `.ts`, compiled code as `.js`. */
export function siblingModule(url: string, name: string): URL {
  return new URL(`./${name}${extname(url)}`, url);
}

/** One worker thread, started with the first call and again after it has ended. */
interface WorkerThread<F extends ThreadFunctions> {
  /**
   * Calls a function of the thread. Calls are executed in order if the functions are synchronous.
   *
   * @throws ThreadUnavailable, or an `Error` with the message of the function's error
   */
  call<Name extends keyof F & string>(
    name: Name,
    argument: Parameters<F[Name]>[0],
  ): Promise<Awaited<ReturnType<F[Name]>>>;
  /** Ends the thread at once. Its calls reject. The next call starts another thread. */
  terminate(): Promise<void>;
  /** Lets the thread finish its calls and end by itself. Later calls reject. */
  close(): Promise<void>;
  /** Calls without a result yet. */
  stats(): { readonly entries: number; readonly maxEntries: number };
}

export function createWorkerThread<F extends ThreadFunctions>(options: WorkerThreadOptions): WorkerThread<F> {
  const { name: threadName, module, workerData, maxCalls, restartMs, clock = systemClock, onEnded, onNotice } = options;
  const pending = new Map<number, PromiseWithResolvers<unknown>>();
  let worker: Worker | undefined;
  let nextId = 0;
  let isClosed = false;
  let restartAtMs = Number.NEGATIVE_INFINITY;

  function start(): Worker {
    // Without the operator's flags and NODE_OPTIONS, because the main thread has already loaded their modules (`--import`).
    const { NODE_OPTIONS: _, ...env } = process.env;
    const started = new Worker(module, { name: threadName, workerData, execArgv: [], env });
    started.on('message', handleMessage);
    started.on('error', (error: Error) => handleEnd(started, error));
    started.on('exit', (code) => handleEnd(started, new Error(`The thread "${threadName}" ended with code ${code}.`)));
    return started;
  }

  function handleMessage(message: ThreadMessage): void {
    if ('notice' in message) {
      onNotice?.(message.notice);
      return;
    }
    const call = pending.get(message.id);
    pending.delete(message.id);
    // An idle thread does not keep the process alive.
    if (pending.size === 0 && !isClosed) worker?.unref();
    if ('error' in message) call?.reject(new Error(message.error));
    else call?.resolve(message.result);
  }

  function handleEnd(ended: Worker, cause: Error): void {
    if (worker !== ended) return;
    restartAtMs = clock.monotonic() + restartMs;
    dropWorker(cause);
    if (!isClosed) onEnded?.(cause);
  }

  function dropWorker(cause?: Error): void {
    worker = undefined;
    const calls = [...pending.values()];
    pending.clear();
    for (const call of calls) call.reject(new ThreadUnavailable(cause?.message ?? 'The thread was ended.', { cause }));
  }

  function post(message: CallMessage): void {
    worker ??= start();
    if (pending.size === 0) worker.ref();
    worker.postMessage(message);
  }

  return {
    async call<Name extends keyof F & string>(
      name: Name,
      argument: Parameters<F[Name]>[0],
    ): Promise<Awaited<ReturnType<F[Name]>>> {
      if (isClosed) throw new ThreadUnavailable('The thread is closed.');
      if (worker === undefined && clock.monotonic() < restartAtMs) {
        throw new ThreadUnavailable('The thread has ended and is not yet started again.');
      }
      if (pending.size >= maxCalls) throw new ThreadUnavailable('Too many calls wait for the thread.');
      const id = nextId;
      nextId += 1;
      const call = Promise.withResolvers<Awaited<ReturnType<F[Name]>>>();
      post({ id, name, argument });
      pending.set(id, call as PromiseWithResolvers<unknown>);
      return call.promise;
    },

    async terminate(): Promise<void> {
      const ending = worker;
      dropWorker();
      await ending?.terminate();
    },

    async close(): Promise<void> {
      isClosed = true;
      const ending = worker;
      if (ending === undefined) return;
      const ended = once(ending, 'exit');
      post({ id: nextId, name: CLOSE, argument: undefined });
      await ended;
    },

    stats: () => ({ entries: pending.size, maxEntries: maxCalls }),
  };
}

/**
 * In a thread: executes the calls of the `WorkerThread` that has started it. A result that is a `Uint8Array` is moved, not copied: it
 * must not be a part of another buffer.
 *
 * @param onClose called before the thread ends
 */
export function serveCalls(functions: ThreadFunctions, onClose: () => void = () => undefined): void {
  const port = parentPort;
  if (isMainThread || port === null) throw new Error('This module runs as a worker thread.');

  port.on('message', async ({ id, name, argument }: CallMessage) => {
    if (name === CLOSE) {
      onClose();
      port.close();
      return;
    }
    try {
      const result = await functions[name]?.(argument);
      const moved = result instanceof Uint8Array ? [result.buffer as ArrayBuffer] : [];
      port.postMessage({ id, result } satisfies ThreadMessage, moved);
    } catch (error) {
      port.postMessage({ id, error: error instanceof Error ? error.message : String(error) } satisfies ThreadMessage);
    }
  });
}

/** In a thread: sends its `WorkerThread` a message that is not a result. */
export function notify(notice: unknown): void {
  parentPort?.postMessage({ notice } satisfies ThreadMessage);
}
