import { AppError, type AppErrorOptions } from '../../domain/errors.ts';
import { systemClock } from '../../lib/clock.ts';
import { NEVER_ABORTED, withDeadline } from '../../lib/deadlines.ts';
import { RESOURCE_LIMITS } from '../../lib/resource-limits.ts';
import { createRoundRobin } from '../../lib/round-robin.ts';
import { currentClient } from '../../lib/work.ts';
import { TaskInterrupted } from './child.ts';
import type { EncodeJob, EncoderTask, ImageInfo, TaskReply } from './job.ts';
import { readLibraryVersion } from './library-version.ts';
import {
  createEncoderPool,
  type EncoderPool,
  type EncoderPoolOptions,
  maxPlacesOfNetwork,
  poolSizeFor,
} from './pool.ts';

/** An original or an image waits for an encoder process. */
export const ENCODER_WAIT_MS = 8_000;
/** An original is read for an encoder process that waits for it. */
const READ_MS = 4_000;
/** A task of an encoder process. */
export const TASK_MS = 10_000;

/** Two cores process a full queue of common images in about this time. */
const RETRY_AFTER_MS = 5_000;
/** Jobs that may wait. */
export const QUEUE_LENGTH = 64;
/** How long a task is refused that used up its CPU time. Otherwise a few images could keep the encoders busy. */
const EXHAUSTED_MS = 3_600_000;

/** Defaults: processes and their memory from the CPU and memory limits of the cgroup, `TASK_MS`, the system's clock. */
export interface EncoderOptions extends Partial<EncoderPoolOptions> {
  /** Tests replace the processes. */
  readonly pool?: EncoderPool;
  /** Default: `QUEUE_LENGTH`. */
  readonly queueLength?: number;
  /** For metrics. A task waited `waitedMs` for its turn, and took `tookMs`. */
  readonly onFinished?: (finished: { task: EncoderTask['kind']; waitedMs: number; tookMs: number }) => void;
}

/**
 * Decodes and encodes images. A job takes the turn of the client whose request began it. When its signal is aborted, a job that
 * waits is dropped, and rejects with the signal's reason.
 *
 * `inspect` and `encode` reject with `AppError` `overloaded` if the queue is full, or if a job waits in it for too long, exceeds its
 * deadline, or crashes two processes. A job that had the CPU for most of its deadline gets the same error for an hour
 * (`validForMs`). They reject with `upstream_invalid` if the original cannot be decoded, which may be for lack of memory.
 * `encode` also rejects with the error of `readOriginal`, and with `upstream_timeout` if that takes too long. Everything else is
 * a bug.
 */
export interface Encoder {
  /** The version of the image library, as hex digits. Another version may encode the same job as other bytes. */
  readonly libraryVersion: string;
  /** Reads the properties of an original, and decodes enough of it to notice missing data. */
  inspect(original: Buffer, signal: AbortSignal): Promise<ImageInfo>;
  encode(job: EncodeJob, signal: AbortSignal): Promise<Buffer>;
  stats(): EncoderStats;
  /** Starts a process before the first task. */
  warmUp(): void;
  /** Ends the processes at once. Unfinished jobs reject with `overloaded`. */
  close(): Promise<void>;
}

interface EncoderStats {
  readonly queued: number;
  readonly running: number;
  readonly processes: number;
  /** Processes that ended because of a task or of themselves, not because they were idle or closed. */
  readonly restarts: number;
  /** Jobs that were rejected because the queue was full or they waited for too long. */
  readonly refused: number;
}

/** Encodes in separate processes, which start with the first work or with `warmUp`. The caller closes the encoder. */
export function createEncoder(options: EncoderOptions = {}): Encoder {
  const { queueLength = QUEUE_LENGTH, clock = systemClock } = options;
  const {
    onFinished,
    pool = createEncoderPool({
      deadlineMs: TASK_MS,
      ...poolSizeFor(RESOURCE_LIMITS, options.processes),
      ...options,
      clock,
    }),
  } = options;
  const queue = createRoundRobin({
    ...{ maxLength: queueLength, maxWaitMs: ENCODER_WAIT_MS, clock, giveTurns },
    refusal() {
      refused += 1;
      return overloaded('Too many images are being encoded at the moment.');
    },
  });
  /** The networks of the running tasks. */
  const running: string[] = [];
  let refused = 0;
  let isClosed = false;

  function giveTurns(): void {
    while (running.length < pool.places) {
      const client = queue.next(mayStart);
      if (client === undefined) return;
      running.push(client.network);
    }
  }

  /** A network never has all places, because a running task is not interrupted for the waiting task of another network. */
  function mayStart(network: string): boolean {
    return running.filter((other) => other === network).length < maxPlacesOfNetwork(pool.places);
  }

  /** @param prepare called when the task has its turn */
  async function execute(prepare: () => Promise<EncoderTask>, signal: AbortSignal): Promise<ImageInfo | Buffer> {
    if (isClosed) throw stopping();
    const client = currentClient();
    const submittedAtMs = clock.monotonic();
    await queue.wait(client, signal);
    const startedAtMs = clock.monotonic();
    try {
      const task = await withDeadline(clock, READ_MS, NEVER_ABORTED, prepare);
      const reply = await perform(task);
      onFinished?.({
        task: task.kind,
        waitedMs: startedAtMs - submittedAtMs,
        tookMs: clock.monotonic() - startedAtMs,
      });
      return resultOf(reply);
    } finally {
      running.splice(running.indexOf(client.network), 1);
      giveTurns();
    }
  }

  /** Tries a task again whose process crashed. After a deadline it would take as long again. */
  async function perform(task: EncoderTask): Promise<TaskReply> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await pool.run(task);
      } catch (error) {
        if (!(error instanceof TaskInterrupted)) throw error;
        if (error.reason !== 'crash' || attempt === 2 || isClosed) throw failureAfter(error);
      }
    }
  }

  return {
    libraryVersion: readLibraryVersion(),
    inspect: async (original, signal) =>
      (await execute(async () => ({ kind: 'inspect', original }), signal)) as ImageInfo,
    async encode({ readOriginal, ...options }, signal) {
      const prepare = async () => ({ kind: 'encode', original: await readOriginal(), options }) as const;
      return (await execute(prepare, signal)) as Buffer;
    },
    stats: () => ({ queued: queue.size, refused, ...pool.stats() }),
    warmUp: () => pool.warmUp(),
    async close() {
      isClosed = true;
      queue.clear(stopping());
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
  throw cause;
}

function overloaded(message: string, options: AppErrorOptions = {}): AppError {
  return new AppError('overloaded', message, { retryAfterMs: RETRY_AFTER_MS, ...options });
}

function stopping(): AppError {
  return overloaded('The service is stopping.');
}

function failureAfter(cause: TaskInterrupted): AppError {
  if (cause.reason === 'exhausted') {
    const lasting = { scope: 'key', retryAfterMs: EXHAUSTED_MS, validForMs: EXHAUSTED_MS } as const;
    return overloaded('The image takes longer than an encoder may work on it.', { cause, ...lasting });
  }
  const scope = cause.reason === 'crash' || cause.reason === 'deadline' ? 'key' : 'upstream';
  return overloaded('The image could not be encoded at the moment.', { cause, scope });
}
