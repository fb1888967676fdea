import { AppError } from '../../domain/errors.ts';
import { TIME_LIMITS_MS } from '../../domain/time-limits.ts';
import { readResourceLimits } from '../../lib/cgroup.ts';
import { systemClock } from '../../lib/clock.ts';
import type { EncodeJob, EncoderTask, JobOptions, OriginalBytes, PictureInfo, TaskReply } from './job.ts';
import { createEncoderPool, type EncoderPoolOptions, poolSizeFor } from './pool.ts';
import { createScheduler, type SchedulerOptions } from './scheduler.ts';

export type Encoder = ReturnType<typeof createEncoder>;

/**
 * Defaults: processes and their memory from the CPU and memory limits of the cgroup, 64 waiting jobs, 10 s for an encode, the
 * system's clock.
 */
export type EncoderOptions = Partial<EncoderPoolOptions & Omit<SchedulerOptions, 'pool'>>;

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
  const pool = createEncoderPool({ ...poolSizeFor(readResourceLimits()), ...options, clock });
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
    stats: scheduler.stats,
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
