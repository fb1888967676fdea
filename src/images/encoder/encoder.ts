import { AsyncLocalStorage } from 'node:async_hooks';
import { AppError } from '../../domain/errors.ts';
import type { Size } from '../../domain/variants.ts';
import { systemClock } from '../../lib/clock.ts';
import { currentClient } from '../../lib/request-scope.ts';
import { RESOURCE_LIMITS } from '../../lib/resource-limits.ts';
import { createRoundRobin } from '../../lib/round-robin.ts';
import { RETRY_AFTER_MS } from './child.ts';
import type { EncodeJob, ImageInfo, TaskReply } from './job.ts';
import { readLibraryVersion } from './library-version.ts';
import { encoderLimitsFor } from './limits.ts';
import { type Job, type SlotOptions, startSlot } from './slot.ts';

/** An original or an image waits for an encoder process. */
export const ENCODER_WAIT_MS = 8_000;
/** A task of an encoder process. */
export const TASK_MS = 4_000;

/** Jobs that may wait. */
export const QUEUE_LENGTH = 64;

/** An encode with more pixels takes long: some of them together must not have every slot. */
const USUAL_PIXELS = { original: 8_000_000, output: 1_300_000 };

/** Defaults: processes and their memory from the CPU and memory limits of the cgroup, `TASK_MS`, the system's clock. */
export interface EncoderOptions extends Partial<SlotOptions> {
  readonly processes?: number;
  /** Default: `QUEUE_LENGTH`. */
  readonly queueLength?: number;
}

/**
 * Decodes and encodes images. A job takes the turn of the client whose request began it. When its signal is aborted, a job that
 * waits is dropped, and rejects with the signal's reason.
 *
 * `inspect` and `encode` reject with `AppError` `overloaded` if the queue is full, or if a job waits in it for too long, misses
 * its deadline (`validForMs`: a minute), or crashes two processes; with `upstream_invalid` if the original cannot be decoded,
 * which may be for lack of memory; with the error of `readOriginal`, or with `upstream_timeout` if that takes too long. Everything
 * else is a bug.
 */
export interface Encoder {
  /** The version of the image library, as hex digits. Another version may encode the same job as other bytes. */
  readonly libraryVersion: string;
  /** Reads the properties of an original, and decodes enough of it to notice missing data. */
  inspect(readOriginal: Job['readOriginal'], signal: AbortSignal): Promise<ImageInfo>;
  encode(job: EncodeJob, signal: AbortSignal): Promise<Buffer>;
  stats(): EncoderStats;
  /** Starts a process before the first task. */
  warmUp(): void;
  /** Ends the processes at once. Unfinished jobs reject with `overloaded`. */
  close(): Promise<void>;
}

export interface EncoderStats {
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
  const { processes, ...limits } = encoderLimitsFor(RESOURCE_LIMITS, options.processes);
  let refused = 0;
  let restarts = 0;
  const queue = createRoundRobin<Job, TaskReply>({ maxWaitMs: ENCODER_WAIT_MS, clock, refusal });
  const slotOptions: SlotOptions = {
    deadlineMs: TASK_MS,
    ...limits,
    ...options,
    clock,
    onEvent(event) {
      if (event.kind === 'ended' && event.reason !== 'idle' && event.reason !== 'closed') restarts += 1;
      options.onEvent?.(event);
    },
  };
  // The first slot takes usual jobs only, unless there is no other one. It is the last one that needs a process.
  const slots = Array.from({ length: processes }, (_, at) =>
    startSlot(queue, (job) => at > 0 || processes === 1 || isUsual(job), slotOptions),
  );

  function refusal(): AppError {
    refused += 1;
    const message = 'Too many images are being encoded at the moment.';
    return new AppError('overloaded', message, { retryAfterMs: RETRY_AFTER_MS });
  }

  async function submit({ readOriginal, options }: Job, signal: AbortSignal) {
    // What the slot reads is part of this request.
    const job = { options, readOriginal: AsyncLocalStorage.bind(readOriginal) };
    const reply = await queue.submit(currentClient(), job, signal, queueLength);
    if (reply.ok) return reply.result;
    const cause = new Error(reply.detail);
    if (!reply.isUndecodable) throw cause;
    throw new AppError('upstream_invalid', 'The original image cannot be decoded.', { cause });
  }

  return {
    libraryVersion: readLibraryVersion(),
    async inspect(readOriginal, signal) {
      return (await submit({ readOriginal, options: undefined }, signal)) as ImageInfo;
    },
    async encode({ readOriginal, ...options }, signal) {
      return (await submit({ readOriginal, options }, signal)) as Buffer;
    },
    stats() {
      const states = slots.map((slot) => slot.stats());
      const running = states.filter(({ isRunning }) => isRunning).length;
      const processes = states.filter(({ hasProcess }) => hasProcess).length;
      return { queued: queue.size, running, processes, restarts, refused };
    },
    warmUp() {
      if (!slots.some((slot) => slot.stats().hasProcess)) slots.at(-1)?.warmUp();
    },
    async close() {
      await Promise.all(slots.map((slot) => slot.close()));
    },
  };
}

function isUsual({ options }: Job): boolean {
  const pixelsOf = ({ width, height }: Size) => width * height;
  return (
    options === undefined ||
    (pixelsOf(options.originalSize) <= USUAL_PIXELS.original && pixelsOf(options.output) <= USUAL_PIXELS.output)
  );
}
