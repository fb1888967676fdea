import { formatRow } from '../../domain/formats.ts';
import type { Clock } from '../../lib/clock.ts';
import { createFairQueue, type FairQueue } from '../../lib/fair-queue.ts';
import type { HolderStats } from '../../lib/holders.ts';
import type { ClientKeys } from '../../lib/work.ts';
import type { EncoderTask, JobOptions, Priority, TaskReply } from './job.ts';

/** For metrics. `re-encode`: an encode in the background. */
export type TaskName = EncoderTask['kind'] | 're-encode';

/** A task that waits for an encoder process, or runs in one. */
export interface QueuedTask {
  readonly task: EncoderTask;
  readonly name: TaskName;
  readonly options: JobOptions;
  readonly priority: Priority;
  /** Milliseconds of an encoder process. */
  readonly expectedMs: number;
  readonly submittedAtMs: number;
  readonly result: PromiseWithResolvers<TaskReply>;
  /** The client charged for it. */
  readonly client: ClientKeys;
  /** Removes the listeners that drop it while it waits. */
  stopWaiting: () => void;
  /** Its first process crashed or was stopped. */
  isRepeated: boolean;
}

export function queuedTaskOf(task: EncoderTask, options: JobOptions, submittedAtMs: number): QueuedTask {
  const { client, priority = 'interactive' } = options;
  return {
    ...{ task, options, priority, submittedAtMs, client },
    name: priority === 'background' ? 're-encode' : task.kind,
    expectedMs: expectedMs(task, options),
    result: Promise.withResolvers(),
    stopWaiting: () => undefined,
    isRepeated: false,
  };
}

/** Tasks that wait for an encoder process. Those of each priority have a fair queue, whose costs are milliseconds of a process. */
interface TaskQueue {
  /** The waiting tasks by priority. Interactive ones include those that are repeated. */
  readonly sizes: Readonly<Record<Priority, number>>;
  /** Queues the task. @returns the task for which there is no room: this one, or one that it has displaced */
  add(task: QueuedTask): QueuedTask | undefined;
  /** Queues a task before all others, whatever their number: it has had its turn before. */
  repeat(task: QueuedTask): void;
  /** Whether a task may start that background work makes room for: an interactive or a repeated one. */
  needsPlace(mayStart: (client: ClientKeys) => boolean): boolean;
  /** The next task of a client that may start. If there is none, and if it may start, the next background task. */
  next(mayStart: (client: ClientKeys) => boolean, mayStartBackground: boolean): QueuedTask | undefined;
  remove(task: QueuedTask): void;
  drain(): QueuedTask[];
  /** Adds to what the client of the task is charged, or subtracts from it. */
  charge(task: QueuedTask, ms: number): void;
  /** The clients whose encoder time is remembered, by priority. */
  clients(): Readonly<Record<Priority, HolderStats>>;
}

/** @param maxLength of each priority */
export function createTaskQueue({
  maxLength,
  clock,
}: {
  readonly maxLength: number;
  readonly clock: Clock;
}): TaskQueue {
  const queues: Readonly<Record<Priority, FairQueue<QueuedTask>>> = {
    interactive: createFairQueue({ maxLength, clock }),
    background: createFairQueue({ maxLength, clock }),
  };
  const repeated: QueuedTask[] = [];

  return {
    get sizes() {
      return { interactive: repeated.length + queues.interactive.size, background: queues.background.size };
    },
    add(task) {
      const { isAdded, displaced } = queues[task.priority].add(task.client, task, task.expectedMs);
      return isAdded ? displaced : task;
    },
    repeat: (task) => repeated.push(task),
    needsPlace: (mayStart) => repeated.length > 0 || queues.interactive.hasNext(mayStart),
    next(mayStart, mayStartBackground) {
      const background = () => (mayStartBackground ? queues.background.next() : undefined);
      return repeated.shift() ?? queues.interactive.next(mayStart) ?? background();
    },
    remove: (task) => queues[task.priority].remove(task),
    drain: () => [...repeated.splice(0), ...queues.interactive.drain(), ...queues.background.drain()],
    charge: ({ priority, client }, ms) => queues[priority].charge(client, ms),
    clients: () => ({ interactive: queues.interactive.clients(), background: queues.background.clients() }),
  };
}

/** Expected times of an encoder process. The real time is charged once it is known. */
const TASK_MS = 10;
const MS_PER_DECODED_MEGAPIXEL = 3;
const MEGAPIXEL = 1_000_000;

/** How long an encoder process will probably need for the task. */
function expectedMs(task: EncoderTask, { statedPixels = 0 }: Pick<JobOptions, 'statedPixels'>): number {
  if (task.kind === 'inspect') return TASK_MS + decodingMs(statedPixels);
  const { originalSize, output, format } = task.job;
  const encodingMs = ((output.width * output.height) / MEGAPIXEL) * formatRow(format).msPerMegapixel;
  return TASK_MS + decodingMs(originalSize.width * originalSize.height) + encodingMs;
}

function decodingMs(pixels: number): number {
  return (pixels / MEGAPIXEL) * MS_PER_DECODED_MEGAPIXEL;
}
