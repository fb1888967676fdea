import { AppError, type AppErrorOptions } from '../../domain/errors.ts';
import type { Clock } from '../../lib/clock.ts';
import { currentSpan, failSpan, recordFailure, startChild } from '../../lib/tracing.ts';
import type { EncoderTask, JobOptions, Priority, TaskReply } from './job.ts';
import { type EncoderPool, type RunningTask, TaskInterrupted } from './pool.ts';
import { createFairQueue } from './queue.ts';

/** A full queue of quick encodes is worked off in about this time on two cores. */
const RETRY_AFTER_MS = 5_000;

export interface SchedulerStats {
  /** Jobs that wait, of either priority. */
  readonly queued: number;
  readonly running: number;
  /** Jobs refused because the queue was full, or did not move. */
  readonly refused: number;
}

/** Decides which job runs next, and what becomes of one whose process ended. */
export interface Scheduler {
  /** Resolves with the process's answer; rejects with `AppError` `overloaded`, or the signal's reason. */
  submit(task: EncoderTask, options: JobOptions): Promise<TaskReply>;
  stats(): SchedulerStats;
  /** Refuses what waits and what still comes. */
  close(): void;
}

interface Entry {
  readonly task: EncoderTask;
  readonly priority: Priority;
  readonly result: PromiseWithResolvers<TaskReply>;
  /** No longer drops the job when its signal fires or it has waited too long: it has started. */
  readonly stopListening: () => void;
  /** Whether somebody else's request waits for it too. */
  readonly isShared: () => boolean;
  readonly submittedAtMs: number;
  trace: TaskTrace | undefined;
  hasCrashed: boolean;
}

/** One task that an encoder process answered, its first attempt's wait included. */
export interface FinishedTask {
  readonly task: EncoderTask['kind'];
  readonly waitedMs: number;
  readonly tookMs: number;
}

export interface SchedulerOptions {
  readonly pool: EncoderPool;
  readonly clock: Clock;
  /** Of each priority. */
  readonly queueLength: number;
  /** An interactive job that has not started by then is refused. */
  readonly maxWaitMs: number;
  /** For one task, a process's start included. */
  readonly deadlineMs: (task: EncoderTask['kind'], priority: Priority) => number;
  /** For metrics. */
  readonly onFinished?: (finished: FinishedTask) => void;
}

export function createScheduler(options: SchedulerOptions): Scheduler {
  const { pool, clock, queueLength, maxWaitMs, deadlineMs, onFinished } = options;
  const queueOptions = { maxLength: queueLength, isDisplaceable: ({ isShared }: Entry) => !isShared() };
  const interactive = createFairQueue<Entry>(queueOptions);
  const background = createFairQueue<Entry>(queueOptions);
  let runningBackground: RunningTask | undefined;
  let refused = 0;
  let isClosed = false;

  async function submit(task: EncoderTask, options: JobOptions): Promise<TaskReply> {
    const { signal, client, priority = 'interactive', isShared = () => false } = options;
    signal.throwIfAborted();
    if (isClosed) throw overloaded('The service is stopping.');
    const queue = priority === 'interactive' ? interactive : background;
    const result = Promise.withResolvers<TaskReply>();
    const submittedAtMs = clock.monotonic();
    const trace = undefined;
    const entry: Entry = { task, priority, result, stopListening, isShared, submittedAtMs, trace, hasCrashed: false };
    const { isAdded, displaced } = queue.add(client, entry);
    if (!isAdded) throw refusal();
    displaced?.stopListening();
    displaced?.result.reject(refusal());
    entry.trace = traceTask(task.kind, result.promise);
    const stopWaiting = priority === 'interactive' ? clock.after(maxWaitMs, () => drop(refusal())) : undefined;
    signal.addEventListener('abort', leave, { once: true });
    function leave(): void {
      drop(signal.reason);
    }
    function drop(reason: unknown): void {
      stopListening();
      queue.remove(client, entry);
      result.reject(reason);
    }
    function stopListening(): void {
      stopWaiting?.();
      signal.removeEventListener('abort', leave);
    }
    startWaiting();
    return result.promise;
  }

  function refusal(): AppError {
    refused += 1;
    return overloaded('Too many pictures are being made at the moment.');
  }

  function startWaiting(): void {
    if (interactive.size > 0 && !pool.hasFreePlace()) runningBackground?.preempt();
    while (pool.hasFreePlace()) {
      const entry = interactive.next() ?? (runningBackground === undefined ? background.next() : undefined);
      if (entry === undefined) return;
      void perform(entry);
    }
  }

  async function perform(entry: Entry): Promise<void> {
    entry.stopListening();
    entry.trace?.begin();
    const startedAtMs = clock.monotonic();
    const running = pool.run(entry.task, deadlineMs(entry.task.kind, entry.priority));
    if (entry.priority === 'background') runningBackground = running;
    try {
      entry.result.resolve(await running.reply);
      const waitedMs = startedAtMs - entry.submittedAtMs;
      onFinished?.({ task: entry.task.kind, waitedMs, tookMs: clock.monotonic() - startedAtMs });
    } catch (error) {
      onInterrupted(entry, error);
    }
    if (runningBackground === running) runningBackground = undefined;
    startWaiting();
  }

  function onInterrupted(entry: Entry, error: unknown): void {
    if (!(error instanceof TaskInterrupted)) {
      entry.result.reject(error);
    } else if (error.reason === 'crash' && !entry.hasCrashed && !isClosed) {
      entry.hasCrashed = true;
      entry.trace?.waitAgain();
      (entry.priority === 'interactive' ? interactive : background).putBack(entry);
    } else {
      // Not tried again after its deadline: it would take as long once more.
      const scope = error.reason === 'crash' || error.reason === 'deadline' ? 'key' : 'upstream';
      entry.result.reject(overloaded('The picture could not be made at the moment.', { cause: error, scope }));
    }
  }

  return {
    submit,
    stats: () => ({ queued: interactive.size + background.size, running: pool.busy, refused }),
    close() {
      isClosed = true;
      for (const entry of [...interactive.drain(), ...background.drain()]) {
        entry.stopListening();
        entry.result.reject(overloaded('The service is stopping.'));
      }
    },
  };
}

function overloaded(message: string, options: AppErrorOptions = {}): AppError {
  return new AppError('overloaded', message, { retryAfterMs: RETRY_AFTER_MS, ...options });
}

/** The stages of one task as spans: its wait for an encoder process, and its time in one. */
export interface TaskTrace {
  /** It has an encoder process now. */
  begin(): void;
  /** Its process has crashed; it waits for another. */
  waitAgain(): void;
}

/** Of the request that submits the task; `undefined` where that is not traced. The last stage ends with the result. */
function traceTask(kind: EncoderTask['kind'], result: Promise<unknown>): TaskTrace | undefined {
  const parent = currentSpan();
  if (parent === undefined) return undefined;
  const startStage = (name: string) => startChild(parent, { name, attributes: { 'pennant.encoder.task': kind } });
  let stage = startStage('encoder queue');

  function startNext(name: string): void {
    stage.end();
    stage = startStage(name);
  }

  result.catch((error: unknown) => recordFailure(stage, error)).finally(() => stage.end());
  return {
    begin: () => startNext('encoder task'),
    waitAgain() {
      failSpan(stage, 'crash');
      startNext('encoder queue');
    },
  };
}
