import { AppError } from '../../domain/errors.ts';
import { readResourceLimits } from '../../lib/cgroup.ts';
import { type Clock, systemClock } from '../../lib/clock.ts';
import type { EncodeJob, EncoderTask, JobOptions, OriginalBytes, PictureInfo, TaskError } from './job.ts';
import { createEncoderPool, type PoolEvent, poolSizeFor } from './pool.ts';
import { createScheduler, type FinishedTask, type SchedulerStats } from './scheduler.ts';

export interface EncoderStats extends SchedulerStats {
  readonly processes: number;
  /** Processes that ended for any reason but the encoder's own end. */
  readonly restarts: number;
}

/**
 * Pictures are decoded and encoded in processes of their own.
 *
 * Rejects with `AppError` `overloaded` when the queue is full or does not move, a job takes longer than its deadline, a
 * process crashes over it twice, or background work has to make way; `upstream_invalid` when the original cannot be decoded. An
 * original's file that is gone rejects with the `ENOENT` of the file system. Anything else is a bug.
 */
export interface Encoder {
  inspect(original: OriginalBytes, options: JobOptions): Promise<PictureInfo>;
  encode(job: EncodeJob, options: JobOptions): Promise<Buffer>;
  /** A smaller encoding of the job's picture that looks no worse than `fast`; `undefined` when there is none. */
  reencode(job: EncodeJob, fast: Buffer, options: JobOptions): Promise<Buffer | undefined>;
  stats(): EncoderStats;
  /** Starts a process ahead of the first task. */
  warmUp(): void;
  /** Ends the processes at once; what has not finished rejects with `overloaded`. */
  close(): Promise<void>;
}

export interface EncoderOptions {
  /** How many encode at a time; default by the cgroup's CPU and memory limits. */
  readonly processes?: number;
  /** Jobs that may wait, of either priority; default 64. */
  readonly queueLength?: number;
  /** For one interactive encode, from its start; default 10 s. A look at an original has 8 s of it at most. */
  readonly deadlineMs?: number;
  /** An encoder process that holds more after a job is replaced; default by the cgroup's memory limit. */
  readonly maxRssBytes?: number;
  /** Of waiting times and deadlines; default the system's: processes take real time. */
  readonly clock?: Clock;
  /** For logs and metrics. */
  readonly onEvent?: (event: PoolEvent) => void;
  /** Told why no encoder process can be started (a sentence without its subject), and `null` once one can. */
  readonly onStateChange?: (problem: string | null) => void;
  /** For metrics. */
  readonly onFinished?: (finished: FinishedTask) => void;
}

const DEFAULT_QUEUE_LENGTH = 64;
const DEFAULT_DEADLINE_MS = 10_000;
/** No request takes 12 s: a record and a download come before a look at an original, an encode after the wait for it. */
const INSPECT_DEADLINE_MS = 8_000;
const MAX_WAIT_MS = 8_000;
/** Nobody waits for it, and it makes way for whoever does. */
const BACKGROUND_DEADLINE_MS = 60_000;

/** Its processes start with the work for them, or with `warmUp`. The caller closes it. */
export function createEncoder(options: EncoderOptions = {}): Encoder {
  const { processes, maxRssBytes } = { ...poolSizeFor(readResourceLimits()), ...options };
  const { queueLength = DEFAULT_QUEUE_LENGTH, deadlineMs = DEFAULT_DEADLINE_MS } = options;
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
    onEvent(event) {
      if (event.kind === 'ended' && event.reason !== 'closed') restarts += 1;
      if (event.kind === 'ready') report(null);
      if (event.kind === 'ended' && event.reason === 'unusable') report(event.detail ?? 'cannot be used');
      onEvent(event);
    },
  });
  const scheduler = createScheduler({
    clock,
    pool,
    queueLength,
    maxWaitMs: MAX_WAIT_MS,
    deadlineMs(task, priority) {
      if (priority === 'background') return BACKGROUND_DEADLINE_MS;
      return task === 'inspect' ? Math.min(deadlineMs, INSPECT_DEADLINE_MS) : deadlineMs;
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
