import type { ResourceLimits } from '../../lib/cgroup.ts';
import type { Clock } from '../../lib/clock.ts';
import { type EncoderChild, startEncoderChild } from './child.ts';
import type { EncoderTask, TaskReply } from './job.ts';

/** For metrics: every reason has a series from the start. */
export const END_REASONS = ['deadline', 'crash', 'unusable', 'preempted', 'grown', 'closed'] as const;

/**
 * Why an encoder process ended: at a task's deadline, by a crash, because it cannot work for this server, for better
 * work, grown too large, or at the end.
 */
export type EndReason = (typeof END_REASONS)[number];

export type PoolEvent =
  | { readonly kind: 'started' | 'ready'; readonly pid: number | undefined }
  | {
      readonly kind: 'ended';
      readonly pid: number | undefined;
      readonly reason: EndReason;
      /** Of a process that crashed what it wrote last, of an unusable one why. */
      readonly detail?: string;
    };

export interface EncoderPoolOptions {
  readonly processes: number;
  /** A process that holds more after a task is replaced. */
  readonly maxRssBytes: number;
  readonly clock: Clock;
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

/** How long no process is started after one that cannot work: the next one most likely cannot either. */
const UNUSABLE_PAUSE_MS = 3_000;

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
  let unusableUntilMs = 0;

  function start(): Worker {
    const worker: Worker = { child: startEncoderChild(), busy: false, endReason: undefined };
    workers.add(worker);
    options.onEvent({ kind: 'started', pid: worker.child.pid });
    void worker.child.ready.then(() => options.onEvent({ kind: 'ready', pid: worker.child.pid }));
    void worker.child.ended.then(() => onEnded(worker));
    return worker;
  }

  function onEnded(worker: Worker): void {
    const { child, endReason, busy } = worker;
    workers.delete(worker);
    const { pid } = child;
    const unusable = child.unusableReason();
    if (endReason !== undefined) {
      options.onEvent({ kind: 'ended', pid, reason: endReason });
    } else if (unusable !== undefined) {
      unusableUntilMs = performance.now() + UNUSABLE_PAUSE_MS;
      options.onEvent({ kind: 'ended', pid, reason: 'unusable', detail: unusable });
    } else {
      options.onEvent({ kind: 'ended', pid, reason: 'crash', detail: child.stderr() });
      // One that died idle is replaced when there is work: a broken installation must not start processes in a loop.
      if (busy) start();
    }
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
    const cancelDeadline = options.clock.after(deadlineMs, () => replace(worker, 'deadline'));
    try {
      const reply = await worker.child.run(task);
      worker.busy = false;
      if (reply.rssBytes > options.maxRssBytes) replace(worker, 'grown');
      return reply;
    } catch {
      const reason = worker.child.unusableReason() === undefined ? 'crash' : 'unusable';
      throw new TaskInterrupted(worker.endReason ?? reason);
    } finally {
      cancelDeadline();
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
      const idle = [...workers].find((candidate) => !candidate.busy);
      if (idle === undefined && performance.now() < unusableUntilMs) {
        return { reply: Promise.reject(new TaskInterrupted('unusable')), preempt: () => undefined };
      }
      const worker = idle ?? start();
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

const MIB = 1024 * 1024;
/** A fresh process holds 85 MiB; one that has made common banners with a good allocator stays below this. */
const MIN_RSS_BYTES = 192 * MIB;
const MAX_RSS_BYTES = 512 * MIB;

/**
 * How many encoder processes there are, and how much each may hold between jobs: together at most half of the memory,
 * the other half is the server's and the page cache's. A fraction of a core is left to the server: a quota that the
 * encoders use up stops it too, whatever their priority.
 */
export function poolSizeFor(limits: ResourceLimits): { processes: number; maxRssBytes: number } {
  const share = limits.memoryBytes / 2;
  const processes = Math.max(1, Math.min(Math.floor(limits.cpus), Math.floor(share / MIN_RSS_BYTES)));
  const maxRssBytes = Math.max(MIN_RSS_BYTES, Math.min(MAX_RSS_BYTES, Math.floor(share / processes)));
  return { processes, maxRssBytes };
}
