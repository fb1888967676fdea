import { Piscina } from 'piscina';
import { AppError } from '../../domain/errors.ts';
import { abortError } from '../deadline.ts';
import { cleanThreadOptions } from '../worker-thread.ts';

/**
 * The functions of one module, by name. Each turns the bytes of an answer into a small plain value that can be copied
 * between threads, and never throws whatever the bytes hold.
 */
export type Readers = Readonly<Record<string, (body: Uint8Array) => unknown>>;

/** Turns upstream answers into values without holding up the event loop. */
export interface BodyReader<R extends Readers> {
  /**
   * Runs the reader `name`: at once for a short body, in a thread for a long one.
   *
   * @throws AppError `upstream_invalid` when the thread ended before it had a value, `upstream_unavailable` when too
   *   many long bodies wait for it, and what `signal` was aborted with (the thread is ended then).
   */
  read<Name extends keyof R & string>(name: Name, body: Uint8Array, signal: AbortSignal): Promise<ReturnType<R[Name]>>;
  /** Long bodies that are read or wait to be read. */
  stats(): { entries: number; maxEntries: number; bytes: number };
  close(): Promise<void>;
}

export interface BodyReaderOptions<R extends Readers> {
  readonly readers: R;
  /** The module that `readers` are the exports of: the thread imports it. */
  readonly module: URL;
}

/** JSON made to be slow takes 20 ms from 280 KiB on, an ordinary channel page of 2 MiB takes 10 ms (2026-11). */
export const MAX_BYTES_ON_EVENT_LOOP = 256 * 1024;

/** Of 4 MiB each, which become up to 140 MB of objects, one body at a time (2026-11). */
const MAX_WAITING = 8;
const IDLE_THREAD_MS = 30_000;

export function createBodyReader<R extends Readers>({ readers, module }: BodyReaderOptions<R>): BodyReader<R> {
  let thread: Piscina | undefined;
  let idle: NodeJS.Timeout | undefined;
  let entries = 0;
  let bytes = 0;

  async function readInThread(name: string, body: Uint8Array, signal: AbortSignal): Promise<unknown> {
    signal.throwIfAborted();
    if (entries >= MAX_WAITING) {
      throw new AppError('upstream_unavailable', 'Too many long upstream answers are being read at the moment.');
    }
    clearTimeout(idle);
    // With a smaller minimum, the pool forgets those who wait for a thread that is ended.
    thread ??= new Piscina({ filename: module.href, minThreads: 1, maxThreads: 1, ...cleanThreadOptions() });
    entries += 1;
    bytes += body.length;
    try {
      return await thread.run(body, { name, signal });
    } catch (cause) {
      if (signal.aborted) throw abortError(signal);
      throw new AppError('upstream_invalid', 'The upstream’s answer could not be read.', { cause });
    } finally {
      entries -= 1;
      bytes -= body.length;
      if (entries === 0) idle = setTimeout(endThread, IDLE_THREAD_MS).unref();
    }
  }

  /** It may hold 200 MB, and long answers are rare. */
  async function endThread(): Promise<void> {
    clearTimeout(idle);
    const ending = thread;
    thread = undefined;
    await ending?.destroy();
  }

  return {
    async read(name, body, signal) {
      const isShort = body.length <= MAX_BYTES_ON_EVENT_LOOP;
      const value = isShort ? readers[name]?.(body) : await readInThread(name, body, signal);
      return value as ReturnType<R[typeof name]>;
    },
    stats: () => ({ entries, maxEntries: MAX_WAITING, bytes }),
    close: endThread,
  };
}
