import { AppError, type AppErrorOptions } from '../../domain/errors.ts';
import { RESOURCE_LIMITS } from '../../lib/cgroup.ts';
import { systemClock } from '../../lib/clock.ts';
import type { HolderStats } from '../../lib/holders.ts';
import type { ClientKeys } from '../../lib/work.ts';
import { TaskInterrupted } from './child.ts';
import type { EncodeJob, EncoderTask, ImageInfo, JobOptions, OriginalBytes, Priority, TaskReply } from './job.ts';
import {
  createEncoderPool,
  type EncoderPool,
  type EncoderPoolOptions,
  maxPlacesOfNetwork,
  poolSizeFor,
  type RunningTask,
} from './pool.ts';
import { createTaskQueue, type QueuedTask, queuedTaskOf, type TaskName } from './task-queue.ts';
import { readLibraryVersion } from './version.ts';

/** An original or an image waits for an encoder process. */
export const ENCODER_WAIT_MS = 8_000;
/** The inspection of an original by an encoder process. */
export const INSPECT_MS = 8_000;
/** An encode by an encoder process. */
export const ENCODE_MS = 10_000;

/** Two cores process a full queue of fast encodes in about this time. */
const RETRY_AFTER_MS = 5_000;
/** Jobs of each priority that may wait. */
export const QUEUE_LENGTH = 64;
/** How long a task is refused that used up its CPU time. Otherwise a few images could keep the encoders busy. */
const EXHAUSTED_MS = 3_600_000;
/** For an encode that no client waits for. It is interrupted for encodes that a client waits for. */
const BACKGROUND_DEADLINE_MS = 60_000;

/** Defaults: processes and their memory from the CPU and memory limits of the cgroup, the system's clock. */
export interface EncoderOptions extends Partial<EncoderPoolOptions> {
  /** Tests replace the processes. */
  readonly pool?: EncoderPool;
  /** Default: `QUEUE_LENGTH`. */
  readonly queueLength?: number;
  /**
   * The deadline of an interactive encode, including the start of a process. Default: 10 s. That of an inspection is 8 s at most.
   */
  readonly deadlineMs?: number;
  /** For metrics. A task waited `waitedMs` until its last attempt began, which took `tookMs`. */
  readonly onFinished?: (finished: { task: TaskName; waitedMs: number; tookMs: number }) => void;
}

/**
 * Decodes and encodes images.
 *
 * `inspect` and `encode` reject with `AppError` `overloaded` if the queue is full, or if a job waits in it for too long, exceeds its
 * deadline, crashes or stops two processes, or is preempted background work. A job that had the CPU for most of its deadline
 * gets the same error for an hour (`validForMs`). They reject with `upstream_invalid` if the original cannot be decoded, which
 * may be for lack of memory, and with `ENOENT` if the file of the original is gone, cannot be read or has changed. Everything
 * else is a bug.
 */
export interface Encoder {
  /** The version of the image library, as hex digits. Another version may encode the same job as other bytes. */
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
  /** Jobs that a client waits for. */
  readonly queued: number;
  readonly queuedInBackground: number;
  readonly running: number;
  readonly processes: number;
  /** Processes that ended because of a task or of themselves, not because they were idle or closed. */
  readonly restarts: number;
  /** Jobs of clients that were rejected because the queue was full or they waited for too long. */
  readonly refused: number;
  /** The clients whose encoder time is remembered, by priority. */
  readonly clients: Readonly<Record<Priority, HolderStats>>;
}

/** Encodes in separate processes, which start with the first work or with `warmUp`. The caller closes the encoder. */
export function createEncoder(options: EncoderOptions = {}): Encoder {
  const { queueLength = QUEUE_LENGTH, deadlineMs = ENCODE_MS, clock = systemClock } = options;
  const {
    onFinished,
    pool = createEncoderPool({ ...poolSizeFor(RESOURCE_LIMITS, options.processes), ...options, clock }),
  } = options;
  const queue = createTaskQueue({ maxLength: queueLength, clock });
  const running = new Set<QueuedTask>();
  let runningBackground: RunningTask | undefined;
  let refused = 0;
  let isClosed = false;

  /** Resolves with the response of the process; rejects with `AppError` `overloaded`, or the signal's reason. */
  async function execute(task: EncoderTask, options: JobOptions): Promise<TaskReply> {
    options.signal.throwIfAborted();
    if (isClosed) throw overloaded('The service is stopping.');
    const queued = queuedTaskOf(task, options, clock.monotonic());
    takePlace(queued);
    dropIfNotNeeded(queued);
    startWaiting();
    return queued.result.promise;
  }

  /** @throws AppError `overloaded` if the queue has no room. If it displaces another task, that one is refused instead */
  function takePlace(queued: QueuedTask): void {
    const withoutPlace = queue.add(queued);
    if (withoutPlace === queued) throw refuse(queued);
    if (withoutPlace !== undefined) drop(withoutPlace, refuse(withoutPlace));
  }

  /** Drops a waiting task when its clients have disconnected, or have waited for too long. */
  function dropIfNotNeeded(queued: QueuedTask): void {
    const { signal } = queued.options;
    const onDisconnect = () => drop(queued, signal.reason);
    const onLate = () => drop(queued, refuse(queued));
    const cancelLimit = queued.priority === 'interactive' ? clock.after(ENCODER_WAIT_MS, onLate) : () => undefined;
    signal.addEventListener('abort', onDisconnect, { once: true });
    queued.stopWaiting = () => {
      cancelLimit();
      signal.removeEventListener('abort', onDisconnect);
    };
  }

  function drop(queued: QueuedTask, reason: unknown): void {
    queued.stopWaiting();
    queue.remove(queued);
    queued.result.reject(reason);
  }

  function refuse({ priority }: QueuedTask): AppError {
    if (priority === 'interactive') refused += 1;
    return overloaded('Too many images are being encoded at the moment.');
  }

  /** One network never has all places: its running tasks are not interrupted for the waiting tasks of others. */
  function mayStart({ network }: ClientKeys): boolean {
    const held = [...running].filter(
      ({ priority, client }) => priority === 'interactive' && client.network === network,
    );
    return held.length < maxPlacesOfNetwork(pool.places);
  }

  function startWaiting(): void {
    if (queue.needsPlace(mayStart) && !pool.hasFreePlace()) runningBackground?.preempt();
    while (pool.hasFreePlace()) {
      const next = queue.next(mayStart, runningBackground === undefined);
      if (next === undefined) return;
      void perform(next);
    }
  }

  async function perform(queued: QueuedTask): Promise<void> {
    queued.stopWaiting();
    const startedAtMs = clock.monotonic();
    const tookMs = () => clock.monotonic() - startedAtMs;
    // The client was charged what was expected when the task left the queue for the first time.
    const chargedMs = queued.isRepeated ? 0 : queued.expectedMs;
    running.add(queued);
    const task = pool.run(queued.task, deadlineOf(queued, deadlineMs));
    if (queued.priority === 'background') runningBackground = task;
    try {
      queued.result.resolve(await task.reply);
      onFinished?.({ task: queued.name, waitedMs: startedAtMs - queued.submittedAtMs, tookMs: tookMs() });
    } catch (error) {
      onFailed(queued, error);
    }
    queue.charge(queued, tookMs() - chargedMs);
    running.delete(queued);
    if (runningBackground === task) runningBackground = undefined;
    startWaiting();
  }

  function onFailed(queued: QueuedTask, error: unknown): void {
    if (!(error instanceof TaskInterrupted)) {
      queued.result.reject(error);
    } else if (['crash', 'stopped'].includes(error.reason) && !queued.isRepeated && !isClosed) {
      queued.isRepeated = true;
      queue.repeat(queued);
    } else {
      // No retry after a deadline: it would take as long again.
      queued.result.reject(failureAfter(error));
    }
  }

  return {
    libraryVersion: readLibraryVersion(),
    async inspect(original, jobOptions) {
      return resultOf(await execute({ kind: 'inspect', original }, jobOptions)) as ImageInfo;
    },
    async encode(job, jobOptions) {
      return resultOf(await execute({ kind: 'encode', job }, jobOptions)) as Buffer;
    },
    stats: () => ({
      queued: queue.sizes.interactive,
      queuedInBackground: queue.sizes.background,
      refused,
      clients: queue.clients(),
      ...pool.stats(),
    }),
    warmUp: () => pool.warmUp(),
    async close() {
      isClosed = true;
      for (const queued of queue.drain()) drop(queued, overloaded('The service is stopping.'));
      await pool.close();
    },
  };
}

function deadlineOf({ task, priority }: QueuedTask, deadlineMs: number): number {
  if (priority === 'background') return BACKGROUND_DEADLINE_MS;
  return task.kind === 'inspect' ? Math.min(deadlineMs, INSPECT_MS) : deadlineMs;
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
