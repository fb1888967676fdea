import { AppError } from '../../domain/errors.ts';
import { abortError, untilAborted } from '../deadlines.ts';
import { createWorkerThread, siblingModule } from '../worker-thread.ts';

/**
 * The functions of one module, by name. Each turns a response body into a small plain value that can be copied between
 * threads, and never throws, whatever the bytes.
 */
export type Readers = Readonly<Record<string, (body: Uint8Array) => unknown>>;

/** Turns upstream responses into values without blocking the event loop. */
export interface BodyReader<R extends Readers> {
  /**
   * Runs the reader `name`: at once for a short body, in a thread for a long one.
   *
   * @throws AppError `upstream_invalid` when the thread ended before it had a value, `upstream_unavailable` when too
   *   many long bodies wait for it, and what `signal` was aborted with (the thread is ended then).
   */
  read<Name extends keyof R & string>(name: Name, body: Uint8Array, signal: AbortSignal): Promise<ReturnType<R[Name]>>;
  /** Long bodies that are being read or wait. */
  stats(): { readonly entries: number; readonly maxEntries: number; readonly bytes: number };
  close(): Promise<void>;
}

/** Hostile JSON of 280 KiB takes 20 ms to read, an ordinary channel page of 2 MiB takes 10 ms (2026-11). */
export const MAX_BYTES_ON_EVENT_LOOP = 256 * 1024;

/** Bodies of up to 4 MiB, each of which becomes up to 140 MB of objects, one at a time (2026-11). */
const MAX_WAITING = 8;
const IDLE_THREAD_MS = 30_000;

/** @param module exports `readers`; the thread imports it */
export function createBodyReader<R extends Readers>(readers: R, module: URL): BodyReader<R> {
  const thread = createWorkerThread<Readers>({
    name: 'long responses',
    module: siblingModule(import.meta.url, 'body-reader-worker'),
    workerData: module.href,
    maxCalls: 1,
    restartMs: 0,
  });
  let idle: NodeJS.Timeout | undefined;
  let entries = 0;
  let bytes = 0;
  /** Settles when all earlier bodies are done. The thread reads one at a time, because abandoning a body ends the thread. */
  let turn: Promise<unknown> = Promise.resolve();

  async function readInThread(name: string, body: Uint8Array, signal: AbortSignal): Promise<unknown> {
    signal.throwIfAborted();
    if (entries >= MAX_WAITING) {
      throw new AppError('upstream_unavailable', 'Too many long upstream responses are being read at the moment.');
    }
    clearTimeout(idle);
    entries += 1;
    bytes += body.length;
    const before = turn;
    const { promise: done, resolve } = Promise.withResolvers<void>();
    turn = before.then(() => done);
    let isRunning = false;
    try {
      await untilAborted(before, signal);
      isRunning = true;
      return await untilAborted(thread.call(name, body), signal);
    } catch (cause) {
      if (!signal.aborted)
        throw new AppError('upstream_invalid', 'The upstream response could not be read.', { cause });
      if (isRunning) void thread.terminate();
      throw abortError(signal);
    } finally {
      resolve();
      entries -= 1;
      bytes -= body.length;
      // The thread may use 200 MB, and long responses are rare.
      if (entries === 0) idle = setTimeout(thread.terminate, IDLE_THREAD_MS).unref();
    }
  }

  return {
    async read<Name extends keyof R & string>(name: Name, body: Uint8Array, signal: AbortSignal) {
      const isShort = body.length <= MAX_BYTES_ON_EVENT_LOOP;
      const value = isShort ? readers[name]?.(body) : await readInThread(name, body, signal);
      return value as ReturnType<R[Name]>;
    },
    stats: () => ({ entries, maxEntries: MAX_WAITING, bytes }),
    close(): Promise<void> {
      clearTimeout(idle);
      return thread.terminate();
    },
  };
}
