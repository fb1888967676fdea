import { AppError } from '../../domain/errors.ts';
import { TIME_LIMITS_MS } from '../../domain/time-limits.ts';
import { readResourceLimits } from '../../lib/cgroup.ts';
import { type Clock, systemClock } from '../../lib/clock.ts';
import type { EncodeJob, EncoderTask, JobOptions, OriginalBytes, PictureInfo, TaskError } from './job.ts';
import { createEncoderPool, type PoolEvent, poolSizeFor } from './pool.ts';
import { createScheduler, type FinishedTask, type SchedulerStats } from './scheduler.ts';

export interface EncoderStats extends SchedulerStats {
  readonly processes: number;
  /** Processes that ended because of a task or by themselves, except idle ones and those at the end of the encoder. */
  readonly restarts: number;
}

/**
 * Decodes and encodes pictures in separate processes.
 *
 * Rejects with `AppError` `overloaded` if the queue is full or does not move, a job exceeds its deadline, a process crashes
 * twice on it, or background work is preempted; with `upstream_invalid` if the original cannot be decoded. If the file of an
 * original is gone, it rejects with `ENOENT`. Everything else is a bug.
 */
export interface Encoder {
  inspect(original: OriginalBytes, options: JobOptions): Promise<PictureInfo>;
  encode(job: EncodeJob, options: JobOptions): Promise<Buffer>;
  /** A smaller encoding of the job's picture that looks no worse than `fast`; `undefined` if there is none. */
  reencode(job: EncodeJob, fast: Buffer, options: JobOptions): Promise<Buffer | undefined>;
  stats(): EncoderStats;
  /** Starts a process before the first task. */
  warmUp(): void;
  /** Ends the processes at once. Unfinished jobs reject with `overloaded`. */
  close(): Promise<void>;
}

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
  /** Called with the reason when no encoder process can start (a sentence without subject), and with `null` once one can. */
  readonly onStateChange?: (problem: string | null) => void;
  /** For metrics. */
  readonly onFinished?: (finished: FinishedTask) => void;
}

const DEFAULT_QUEUE_LENGTH = 64;

/** Processes start with the first work, or with `warmUp`. The caller closes the encoder. */
export function createEncoder(options: EncoderOptions = {}): Encoder {
  const { processes, maxRssBytes } = { ...poolSizeFor(readResourceLimits()), ...options };
  const { queueLength = DEFAULT_QUEUE_LENGTH, deadlineMs = TIME_LIMITS_MS.encode } = options;
  const { onEvent = () => undefined, clock = systemClock } = options;
  let restarts = 0;
  let reported: string | null = null;

  function report(problem: string | null): void {
    if (problem === reported) return;
    reported = problem;
    options.onStateChange?.(problem);
  }

  const pool = createEncoderPool({
    clock,
    processes,
    maxRssBytes,
    maxIdleMs: TIME_LIMITS_MS.encoderIdle,
    onEvent(event) {
      if (event.kind === 'ended' && event.reason !== 'closed' && event.reason !== 'idle') restarts += 1;
      if (event.kind === 'ready') report(null);
      if (event.kind === 'ended' && event.reason === 'unusable') report(event.detail ?? 'cannot be used');
      onEvent(event);
    },
  });
  const scheduler = createScheduler({
    clock,
    pool,
    queueLength,
    maxWaitMs: TIME_LIMITS_MS.encoderWait,
    deadlineMs(task, priority) {
      if (priority === 'background') return TIME_LIMITS_MS.backgroundEncode;
      return task === 'inspect' ? Math.min(deadlineMs, TIME_LIMITS_MS.inspect) : deadlineMs;
    },
    ...(options.onFinished && { onFinished: options.onFinished }),
  });

  async function perform(task: EncoderTask, jobOptions: JobOptions): Promise<PictureInfo | Buffer | undefined> {
    const reply = await scheduler.submit(task, jobOptions);
    if (reply.ok) return reply.result;
    throw errorOf(reply);
  }

  return {
    inspect: (original, jobOptions) => perform({ kind: 'inspect', original }, jobOptions) as Promise<PictureInfo>,
    encode: (job, jobOptions) => perform({ kind: 'encode', job }, jobOptions) as Promise<Buffer>,
    reencode: (job, fast, jobOptions) =>
      perform({ kind: 'refine', job, fast }, jobOptions) as Promise<Buffer | undefined>,
    stats: () => ({ ...scheduler.stats(), processes: pool.processes, restarts }),
    warmUp: () => pool.warmUp(),
    async close() {
      scheduler.close();
      await pool.close();
    },
  };
}

function errorOf({ failure, detail }: TaskError): Error {
  const cause = new Error(detail);
  switch (failure) {
    case 'undecodable':
      return new AppError('upstream_invalid', 'The original picture cannot be decoded.', { cause });
    case 'missing':
      return Object.assign(cause, { code: 'ENOENT' });
    case 'bug':
      return cause;
  }
}
