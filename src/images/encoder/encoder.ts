import { AppError, type AppErrorOptions } from '../../domain/errors.ts';
import { TIME_LIMITS_MS } from '../../domain/time-limits.ts';
import { readResourceLimits } from '../../lib/cgroup.ts';
import { systemClock } from '../../lib/clock.ts';
import { createFairQueue, type FairQueue } from '../../lib/fair-queue.ts';
import type { HolderStats } from '../../lib/holders.ts';
import type { ClientKeys } from '../../lib/work.ts';
import { TaskInterrupted } from './child.ts';
import { expectedMs } from './expected-cost.ts';
import type { EncodeJob, EncoderTask, ImageInfo, JobOptions, OriginalBytes, TaskReply } from './job.ts';
import {
  createEncoderPool,
  type EncoderPool,
  type EncoderPoolOptions,
  placesOfOne,
  poolSizeFor,
  type RunningTask,
} from './pool.ts';
import { type TaskName, traceTask } from './task-spans.ts';
import { readLibraryVersion } from './version.ts';

/** Two cores process a full queue of fast encodes in about this time. */
const RETRY_AFTER_MS = 5_000;
/** Jobs of each priority that may wait. */
export const QUEUE_LENGTH = 64;
/** Other attempts would take as long, so that some channels' images could keep the encoders busy. */
const EXHAUSTED_MS = 3_600_000;
/** For an encode that no client waits for. It is interrupted for encodes that a client waits for. */
const BACKGROUND_DEADLINE_MS = 60_000;

interface Entry {
  readonly task: EncoderTask;
  readonly options: JobOptions;
  /** Of its priority. */
  readonly queue: FairQueue<Entry>;
  /** Whose turn it takes: the client that began it. If it is displaced, the next one that waits for it. */
  client: ClientKeys;
  /** The clients that it has been queued for, or for which there was no room. */
  readonly triedClients: Set<string>;
  readonly result: PromiseWithResolvers<TaskReply>;
  /** Removes the listeners that drop a waiting job. Called when the job starts. */
  stopListening: () => void;
  readonly submittedAtMs: number;
  /** `undefined` if the request is not traced. */
  startSpan: ReturnType<typeof traceTask>;
  isRepeated: boolean;
}

/** Defaults: processes and their memory from the CPU and memory limits of the cgroup, the system's clock. */
export interface EncoderOptions extends Partial<EncoderPoolOptions> {
  /** Tests replace the processes. */
  readonly pool?: EncoderPool;
  /** Default: `QUEUE_LENGTH`. */
  readonly queueLength?: number;
  /**
   * For one interactive encode, including the start of a process; default 10 s. Inspecting an original may take 8 s at most.
   */
  readonly deadlineMs?: number;
  /** For metrics. A task waited `waitedMs` until its last attempt began, which took `tookMs`. */
  readonly onFinished?: (finished: { task: TaskName; waitedMs: number; tookMs: number }) => void;
}

/**
 * Decodes and encodes images.
 *
 * `inspect` and `encode` reject with `AppError` `overloaded` if the queue is full or does not move, a job exceeds its
 * deadline (if it had the CPU for most of that time, for an hour: `validForMs`), two processes crash or are stopped on it,
 * or background work is preempted; with `upstream_invalid` if the original cannot be decoded, which may be for lack of
 * memory; with `ENOENT` if the file of the original is gone. Everything else is a bug.
 */
export interface Encoder {
  /** Of the image library, without punctuation. With another version, the same job may give other bytes. */
  readonly libraryVersion: string;
  /** Reads the properties of an original, and decodes enough of it to notice missing data. */
  inspect(original: OriginalBytes, options: JobOptions): Promise<ImageInfo>;
  encode(job: EncodeJob, options: JobOptions): Promise<Buffer>;
  stats(): EncoderStats;
  /** Starts a process before the first task. */
  warmUp(): void;
  /** Ends the processes at once. Unfinished jobs reject with `overloaded`. */
  close(): Promise<void>;
}

interface EncoderStats {
  /** Waiting jobs of both priorities. */
  readonly queued: number;
  readonly running: number;
  readonly processes: number;
  /** Processes that ended because of a task or of themselves, not because they were idle or closed. */
  readonly restarts: number;
  /** Jobs that were rejected because the queue was full or did not move. */
  readonly refused: number;
  /** The clients whose encoder time is remembered. */
  readonly clients: HolderStats;
}

/** Encodes in separate processes, which start with the first work or with `warmUp`. The caller closes the encoder. */
export function createEncoder(options: EncoderOptions = {}): Encoder {
  const { queueLength = QUEUE_LENGTH, deadlineMs = TIME_LIMITS_MS.encode, clock = systemClock } = options;
  const {
    onFinished,
    pool = createEncoderPool({ ...poolSizeFor(readResourceLimits(), options.processes), ...options, clock }),
  } = options;
  /** Costs are milliseconds of an encoder process. */
  const interactive = createFairQueue<Entry>({ maxLength: queueLength, clock });
  const background = createFairQueue<Entry>({ maxLength: queueLength, clock });
  /** Jobs whose process crashed or was stopped. They are next, and the bounds of the queues do not apply. */
  const repeated: Entry[] = [];
  const running = new Set<Entry>();
  let runningBackground: RunningTask | undefined;
  let refused = 0;
  let isClosed = false;

  /** Resolves with the response of the process; rejects with `AppError` `overloaded`, or the signal's reason. */
  async function submit(task: EncoderTask, options: JobOptions): Promise<TaskReply> {
    const { signal, client, priority } = options;
    signal.throwIfAborted();
    if (isClosed) throw overloaded('The service is stopping.');
    const queue = priority === 'background' ? background : interactive;
    const result = Promise.withResolvers<TaskReply>();
    const entry: Entry = {
      ...{ task, options, queue, result, client },
      triedClients: new Set(),
      submittedAtMs: clock.monotonic(),
      stopListening: () => undefined,
      startSpan: undefined,
      isRepeated: false,
    };
    const left = enqueue(entry);
    if (left === entry) throw refusal();
    if (left !== undefined) drop(left, refusal());
    entry.startSpan = traceTask(nameOf(entry), result.promise);
    const onDisconnect = () => drop(entry, signal.reason);
    const onLate = () => drop(entry, refusal());
    const stopWaiting = queue === interactive ? clock.after(TIME_LIMITS_MS.encoderWait, onLate) : undefined;
    signal.addEventListener('abort', onDisconnect, { once: true });
    entry.stopListening = () => {
      stopWaiting?.();
      signal.removeEventListener('abort', onDisconnect);
    };
    startWaiting();
    return result.promise;
  }

  /** Queues the job. A displaced job is queued for its next client, and so on. Returns a job for which there is no room. */
  function enqueue(entry: Entry): Entry | undefined {
    let homeless: Entry | undefined = entry;
    while (homeless !== undefined) {
      const client = nextClientOf(homeless);
      if (client === undefined) return homeless;
      homeless.triedClients.add(client.key);
      const { isAdded, displaced } = homeless.queue.add(client, homeless, expectedMs(homeless.task, homeless.options));
      if (!isAdded) continue;
      homeless.client = client;
      homeless = displaced;
    }
    return undefined;
  }

  function nextClientOf({ options: { client, waitingClients }, triedClients }: Entry): ClientKeys | undefined {
    return [client, ...(waitingClients?.() ?? [])].find(({ key }) => !triedClients.has(key));
  }

  /** Rejects a job that waits. */
  function drop(entry: Entry, reason: unknown): void {
    entry.stopListening();
    entry.queue.remove(entry);
    entry.result.reject(reason);
  }

  function refusal(): AppError {
    refused += 1;
    return overloaded('Too many images are being encoded at the moment.');
  }

  /** A network never has all places, because no running job is interrupted for the waiting ones of others. */
  function mayStart({ network }: ClientKeys): boolean {
    const held = [...running].filter(({ queue, client }) => queue === interactive && client.network === network);
    return held.length < placesOfOne(pool.places);
  }

  function startWaiting(): void {
    const isNeeded = repeated.length > 0 || interactive.hasNext(mayStart);
    if (isNeeded && !pool.hasFreePlace()) runningBackground?.preempt();
    while (pool.hasFreePlace()) {
      const next = repeated.shift() ?? interactive.next(mayStart);
      const entry = next ?? (runningBackground === undefined ? background.next() : undefined);
      if (entry === undefined) return;
      void perform(entry);
    }
  }

  function nameOf({ task, queue }: Entry): TaskName {
    return queue === background ? 're-encode' : task.kind;
  }

  function deadlineOf({ task, queue }: Entry): number {
    if (queue === background) return BACKGROUND_DEADLINE_MS;
    return task.kind === 'inspect' ? Math.min(deadlineMs, TIME_LIMITS_MS.inspect) : deadlineMs;
  }

  async function perform(entry: Entry): Promise<void> {
    entry.stopListening();
    entry.startSpan?.('encoder task');
    const startedAtMs = clock.monotonic();
    // The queue has charged it once.
    const chargedMs = entry.isRepeated ? 0 : expectedMs(entry.task, entry.options);
    running.add(entry);
    const task = pool.run(entry.task, deadlineOf(entry));
    if (entry.queue === background) runningBackground = task;
    try {
      entry.result.resolve(await task.reply);
      const waitedMs = startedAtMs - entry.submittedAtMs;
      onFinished?.({ task: nameOf(entry), waitedMs, tookMs: clock.monotonic() - startedAtMs });
    } catch (error) {
      onInterrupted(entry, error);
    }
    entry.queue.charge(entry.client, clock.monotonic() - startedAtMs - chargedMs);
    running.delete(entry);
    if (runningBackground === task) runningBackground = undefined;
    startWaiting();
  }

  function onInterrupted(entry: Entry, error: unknown): void {
    if (!(error instanceof TaskInterrupted)) {
      entry.result.reject(error);
    } else if (['crash', 'stopped'].includes(error.reason) && !entry.isRepeated && !isClosed) {
      entry.isRepeated = true;
      entry.startSpan?.('encoder queue', error.reason);
      repeated.push(entry);
    } else {
      // No retry after a deadline: it would take as long again.
      entry.result.reject(failureAfter(error));
    }
  }

  return {
    libraryVersion: readLibraryVersion(),
    async inspect(original, jobOptions) {
      return resultOf(await submit({ kind: 'inspect', original }, jobOptions)) as ImageInfo;
    },
    async encode(job, jobOptions) {
      return resultOf(await submit({ kind: 'encode', job }, jobOptions)) as Buffer;
    },
    stats: () => ({
      queued: repeated.length + interactive.size + background.size,
      refused,
      clients: interactive.clients(),
      ...pool.stats(),
    }),
    warmUp: () => pool.warmUp(),
    async close() {
      isClosed = true;
      for (const entry of [...repeated.splice(0), ...interactive.drain(), ...background.drain()]) {
        drop(entry, overloaded('The service is stopping.'));
      }
      await pool.close();
    },
  };
}

function resultOf(reply: TaskReply): ImageInfo | Buffer {
  if (reply.ok) return reply.result;
  const cause = new Error(reply.detail);
  if (reply.failure === 'undecodable') {
    throw new AppError('upstream_invalid', 'The original image cannot be decoded.', { cause });
  }
  throw reply.failure === 'missing' ? Object.assign(cause, { code: 'ENOENT' }) : cause;
}

function overloaded(message: string, options: AppErrorOptions = {}): AppError {
  return new AppError('overloaded', message, { retryAfterMs: RETRY_AFTER_MS, ...options });
}

function failureAfter(cause: TaskInterrupted): AppError {
  if (cause.reason === 'exhausted') {
    const lasting = { scope: 'key', retryAfterMs: EXHAUSTED_MS, validForMs: EXHAUSTED_MS } as const;
    return overloaded('The image takes longer than an encoder may work on it.', { cause, ...lasting });
  }
  const scope = cause.reason === 'crash' || cause.reason === 'deadline' ? 'key' : 'upstream';
  return overloaded('The image could not be encoded at the moment.', { cause, scope });
}
