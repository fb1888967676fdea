import { AppError } from '../../domain/errors.ts';
import { TIME_LIMITS_MS } from '../../domain/time-limits.ts';
import { readResourceLimits } from '../../lib/cgroup.ts';
import { type Clock, systemClock } from '../../lib/clock.ts';
import type { EncodeJob, EncoderTask, JobOptions, OriginalBytes, PictureInfo, TaskReply } from './job.ts';
import { createEncoderPool, type PoolEvent, poolSizeFor } from './pool.ts';
import { createScheduler, type FinishedTask } from './scheduler.ts';

export type Encoder = ReturnType<typeof createEncoder>;
export type EncoderStats = ReturnType<Encoder['stats']>;

export interface EncoderOptions {
  /** The number of processes; by default from the CPU and memory limits of the cgroup. */
  readonly processes?: number;
  /** Jobs that may wait, of either priority; default 64. */
  readonly queueLength?: number;
  /** For one interactive encode, from its start; default 10 s. Inspecting an original may take 8 s at most. */
  readonly deadlineMs?: number;
  /** A process with more memory after a job is replaced; by default from the memory limit of the cgroup. */
  readonly maxRssBytes?: number;
  /** For waiting times and deadlines; default: the system's clock. */
  readonly clock?: Clock;
  /** For logs and metrics. */
  readonly onEvent?: (event: PoolEvent) => void;
  /** For metrics. */
  readonly onFinished?: (finished: FinishedTask) => void;
}

const DEFAULT_QUEUE_LENGTH = 64;

/**
 * Decodes and encodes pictures in separate processes, which start with the first work or with `warmUp`. The caller closes
 * the encoder.
 *
 * Rejects with `AppError` `overloaded` if the queue is full or does not move, a job exceeds its deadline, a process crashes
 * twice on it, or background work is preempted; with `upstream_invalid` if the original cannot be decoded. If the file of an
 * original is gone, it rejects with `ENOENT`. Everything else is a bug.
 */
export function createEncoder(options: EncoderOptions = {}) {
  const { queueLength = DEFAULT_QUEUE_LENGTH, deadlineMs = TIME_LIMITS_MS.encode, clock = systemClock } = options;
  let restarts = 0;
  const pool = createEncoderPool({
    ...poolSizeFor(readResourceLimits()),
    ...options,
    clock,
    onEvent(event) {
      if (event.kind === 'ended' && event.reason !== 'closed' && event.reason !== 'idle') restarts += 1;
      options.onEvent?.(event);
    },
  });
  const scheduler = createScheduler({ clock, pool, queueLength, deadlineMs, onFinished: options.onFinished });

  async function perform(task: EncoderTask, jobOptions: JobOptions): Promise<PictureInfo | Buffer | undefined> {
    return resultOf(await scheduler.submit(task, jobOptions));
  }

  return {
    inspect: (original: OriginalBytes, jobOptions: JobOptions) =>
      perform({ kind: 'inspect', original }, jobOptions) as Promise<PictureInfo>,
    encode: (job: EncodeJob, jobOptions: JobOptions) => perform({ kind: 'encode', job }, jobOptions) as Promise<Buffer>,
    /** A smaller encoding of the job's picture that looks no worse than `fast`; `undefined` if there is none. */
    reencode: (job: EncodeJob, fast: Buffer, jobOptions: JobOptions) =>
      perform({ kind: 'refine', job, fast }, jobOptions) as Promise<Buffer | undefined>,
    /** `restarts`: processes that ended because of a task or of themselves, not because they were idle or closed. */
    stats: () => ({ ...scheduler.stats(), processes: pool.processes, restarts }),
    /** Starts a process before the first task. */
    warmUp: () => pool.warmUp(),
    /** Ends the processes at once. Unfinished jobs reject with `overloaded`. */
    async close(): Promise<void> {
      scheduler.close();
      await pool.close();
    },
  };
}

function resultOf(reply: TaskReply): PictureInfo | Buffer | undefined {
  if (reply.ok) return reply.result;
  const cause = new Error(reply.detail);
  if (reply.failure === 'undecodable') {
    throw new AppError('upstream_invalid', 'The original picture cannot be decoded.', { cause });
  }
  throw reply.failure === 'missing' ? Object.assign(cause, { code: 'ENOENT' }) : cause;
}
