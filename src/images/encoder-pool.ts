import { type EncoderChild, startEncoderChild } from './encoder-child.ts';
import type { EncoderTask, TaskReply } from './encoder-messages.ts';

/** Why an encoder process ended: at a task's deadline, by a crash, for better work, grown too large, or at the end. */
export type EndReason = 'deadline' | 'crash' | 'preempted' | 'grown' | 'closed';

export type PoolEvent =
  | { readonly kind: 'started'; readonly pid: number | undefined }
  | { readonly kind: 'ended'; readonly pid: number | undefined; readonly reason: EndReason };

export interface EncoderPoolOptions {
  readonly processes: number;
  /** A process that holds more after a task is replaced. */
  readonly maxRssBytes: number;
  readonly onEvent: (event: PoolEvent) => void;
}

/** A task's process ended before it answered. */
export class TaskInterrupted extends Error {
  readonly reason: EndReason;

  constructor(reason: EndReason) {
    super(`The encoder process ended: ${reason}`);
    this.reason = reason;
  }
}

export interface RunningTask {
  /** Rejects with TaskInterrupted. */
  readonly reply: Promise<TaskReply>;
  preempt(): void;
}

export interface EncoderPool {
  readonly busy: number;
  readonly processes: number;
  hasFreePlace(): boolean;
  /** Starts a process where there is none, so that the first task need not wait for it. */
  warmUp(): void;
  /** Precondition: there is a free place. A task that takes longer than the deadline is killed, with its process. */
  run(task: EncoderTask, deadlineMs: number): RunningTask;
  close(): Promise<void>;
}

interface Worker {
  readonly child: EncoderChild;
  busy: boolean;
  /** Set when we end it ourselves; a process that ends without has crashed. */
  endReason: EndReason | undefined;
}

/** Processes that each do one task at a time, started when there is work for one more. */
export function createEncoderPool(options: EncoderPoolOptions): EncoderPool {
  const workers = new Set<Worker>();
  let isClosed = false;

  function start(): Worker {
    const worker: Worker = { child: startEncoderChild(), busy: false, endReason: undefined };
    workers.add(worker);
    options.onEvent({ kind: 'started', pid: worker.child.pid });
    void worker.child.ended.then(() => onEnded(worker));
    return worker;
  }

  function onEnded(worker: Worker): void {
    options.onEvent({ kind: 'ended', pid: worker.child.pid, reason: worker.endReason ?? 'crash' });
    workers.delete(worker);
    // One that died idle is replaced when there is work: a broken installation must not start processes in a loop.
    if (worker.endReason === undefined && worker.busy) start();
  }

  /** Frees the place at once: a killed process may take a while to give its memory back. */
  function end(worker: Worker, reason: EndReason): void {
    worker.endReason ??= reason;
    worker.child.kill();
    workers.delete(worker);
  }

  function replace(worker: Worker, reason: EndReason): void {
    end(worker, reason);
    start();
  }

  async function runOn(worker: Worker, task: EncoderTask, deadlineMs: number): Promise<TaskReply> {
    const deadline = setTimeout(() => replace(worker, 'deadline'), deadlineMs);
    try {
      const reply = await worker.child.run(task);
      worker.busy = false;
      if (reply.rssBytes > options.maxRssBytes) replace(worker, 'grown');
      return reply;
    } catch {
      throw new TaskInterrupted(worker.endReason ?? 'crash');
    } finally {
      clearTimeout(deadline);
    }
  }

  function countBusy(): number {
    return [...workers].filter((worker) => worker.busy).length;
  }

  return {
    get busy() {
      return countBusy();
    },
    get processes() {
      return workers.size;
    },
    hasFreePlace: () => countBusy() < options.processes,
    warmUp() {
      if (workers.size === 0 && !isClosed) start();
    },
    run(task, deadlineMs) {
      const worker = [...workers].find((candidate) => !candidate.busy) ?? start();
      worker.busy = true;
      return { reply: runOn(worker, task, deadlineMs), preempt: () => end(worker, 'preempted') };
    },
    async close() {
      isClosed = true;
      const all = [...workers];
      for (const worker of all) end(worker, 'closed');
      await Promise.all(all.map((worker) => worker.child.ended));
    },
  };
}
