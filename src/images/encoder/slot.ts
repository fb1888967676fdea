import type { Clock } from '../../lib/clock.ts';
import { NEVER_ABORTED, withDeadline } from '../../lib/deadlines.ts';
import type { RoundRobin } from '../../lib/round-robin.ts';
import { type EncoderChild, type ProcessEnd, startEncoderChild, TaskInterrupted } from './child.ts';
import type { EncodeOptions, EncoderTask, TaskReply } from './job.ts';

/** Work that waits for a slot: an image is encoded, or without options an original inspected. */
export interface Job {
  readonly readOriginal: () => Promise<Buffer>;
  readonly options: EncodeOptions | undefined;
}

export type ProcessEvent = { readonly pid: number | undefined } & (
  | { readonly kind: 'started' | 'ready' }
  | ({ readonly kind: 'ended' } & ProcessEnd)
);

export interface SlotOptions {
  /** A process with more memory after a task is ended. */
  readonly maxRssBytes: number;
  /** How much memory a process may allocate for its tasks. */
  readonly maxDataBytes: number;
  /** The limit of a task, and before it of reading its original. */
  readonly deadlineMs: number;
  readonly clock: Clock;
  /** For logs and metrics. */
  readonly onEvent?: (event: ProcessEvent) => void;
  /** For metrics. A task waited `waitedMs` for its turn, and took `tookMs`. */
  readonly onFinished?: (finished: { task: 'inspect' | 'encode'; waitedMs: number; tookMs: number }) => void;
}

/** Takes one job after another, and has a process for them, which is started on demand. */
export interface Slot {
  /** Starts the process before the first job. */
  warmUp(): void;
  stats(): { readonly isRunning: boolean; readonly hasProcess: boolean };
  /** Ends the process at once; later jobs fail. */
  close(): Promise<void>;
}

/** A process without a task is ended after this time. The next image then waits for the start of another one. */
export const ENCODER_IDLE_MS = 120_000;

/** A start takes a third of a second. A busy machine may need much longer. */
const START_MS = 10_000;

/** @param mayTake false for jobs that the slot leaves to others */
export function startSlot(
  queue: RoundRobin<Job, TaskReply>,
  mayTake: (job: Job) => boolean,
  options: SlotOptions,
): Slot {
  const { maxRssBytes, maxDataBytes, deadlineMs, clock, onEvent, onFinished } = options;
  let isRunning = false;
  let child: EncoderChild | undefined;
  let cancelIdleLimit: () => void = () => undefined;
  let isClosed = false;

  async function work(): Promise<never> {
    for (;;) {
      const { work: job, waitedMs, settle } = await queue.take(mayTake);
      isRunning = true;
      await settle(run(job, waitedMs));
      isRunning = false;
    }
  }

  async function run({ readOriginal, options }: Job, waitedMs: number): Promise<TaskReply> {
    if (isClosed) throw new TaskInterrupted('closed');
    const startedAtMs = clock.monotonic();
    const original = await withDeadline(clock, deadlineMs, NEVER_ABORTED, readOriginal);
    const reply = await perform({ original, options });
    const task = options === undefined ? 'inspect' : 'encode';
    onFinished?.({ task, waitedMs, tookMs: clock.monotonic() - startedAtMs });
    return reply;
  }

  /** Tries a task again whose process crashed. After a deadline it would take as long again. */
  async function perform(task: EncoderTask): Promise<TaskReply> {
    try {
      return await performOnce(task);
    } catch (error) {
      if (!(error instanceof TaskInterrupted) || error.reason !== 'crash') throw error;
      return performOnce(task);
    }
  }

  async function performOnce(task: EncoderTask): Promise<TaskReply> {
    const process = child ?? start();
    cancelIdleLimit();
    await inTime(START_MS, process.ready);
    const reply = await inTime(deadlineMs, process.run(task));
    if (!reply.ok) end('failed');
    else if (reply.rssBytes > maxRssBytes) end('grown');
    else limitIdleTime();
    return reply;
  }

  async function inTime<T>(limitMs: number, step: Promise<T>): Promise<T> {
    const cancel = clock.after(limitMs, () => end('deadline'));
    try {
      return await step;
    } finally {
      cancel();
    }
  }

  function start(): EncoderChild {
    if (isClosed) throw new TaskInterrupted('closed');
    const started = startEncoderChild(maxDataBytes);
    const { pid } = started;
    child = started;
    limitIdleTime();
    onEvent?.({ kind: 'started', pid });
    void started.ended.then((ended) => {
      if (child === started) forget();
      onEvent?.({ kind: 'ended', pid, ...ended });
    });
    started.ready.then(
      () => onEvent?.({ kind: 'ready', pid }),
      () => undefined,
    );
    return started;
  }

  /** An idle process holds up to 140 MiB. */
  function limitIdleTime(): void {
    cancelIdleLimit();
    cancelIdleLimit = clock.after(ENCODER_IDLE_MS, () => end('idle'));
  }

  /** The next job has another process at once, although a killed one may take a while to release its memory. */
  function end(reason: ProcessEnd['reason']): void {
    child?.kill(reason);
    forget();
  }

  function forget(): void {
    cancelIdleLimit();
    child = undefined;
  }

  void work();
  return {
    warmUp() {
      if (child === undefined && !isClosed) start();
    },
    stats: () => ({ isRunning, hasProcess: child !== undefined }),
    async close() {
      isClosed = true;
      const last = child;
      end('closed');
      await last?.ended;
    },
  };
}
