import { readFileSync } from 'node:fs';
import type { Clock } from '../../lib/clock.ts';
import type { ResourceLimits } from '../../lib/resource-limits.ts';
import { type EncoderChild, type KillReason, type ProcessEnd, startEncoderChild } from './child.ts';
import type { EncoderTask, TaskReply } from './job.ts';

export type PoolEvent = { readonly pid: number | undefined } & (
  | { readonly kind: 'started' | 'ready' }
  | ({ readonly kind: 'ended' } & ProcessEnd)
);

export interface EncoderPoolOptions {
  readonly processes: number;
  /** A process with more memory after a task is ended. */
  readonly maxRssBytes: number;
  /** How much memory a process may allocate for its tasks. */
  readonly maxDataBytes: number;
  /** The deadline of a task, including the start of its process. */
  readonly deadlineMs: number;
  readonly clock: Clock;
  /** For logs and metrics. */
  readonly onEvent?: (event: PoolEvent) => void;
}

/** Processes that run one task at a time each, and are started on demand. */
export interface EncoderPool {
  /** How many tasks may run at a time. */
  readonly places: number;
  /** Starts a process if there is none, so that the first task need not wait for it. */
  warmUp(): void;
  /**
   * Precondition: fewer tasks than places are running. A task that exceeds the deadline is killed together with its process.
   *
   * @throws TaskInterrupted if the process ends before it has responded
   */
  run(task: EncoderTask): Promise<TaskReply>;
  /** `restarts`: processes that ended because of a task or of themselves, not because they were idle or closed. */
  stats(): { readonly running: number; readonly processes: number; readonly restarts: number };
  close(): Promise<void>;
}

/** A process without a task is ended after this time. The next image then waits for the start of another one. */
export const ENCODER_IDLE_MS = 120_000;
/** A task that had the CPU for this share of its deadline is too expensive. With less, the machine may be too busy. */
const EXHAUSTED_SHARE = 0.75;

interface Worker {
  readonly child: EncoderChild;
  busy: boolean;
  /** Cancels the end of the idle process. */
  cancelIdleLimit: () => void;
}

export function createEncoderPool(options: EncoderPoolOptions): EncoderPool {
  const workers = new Set<Worker>();
  let isClosed = false;
  let restarts = 0;

  function start(): Worker {
    const child = startEncoderChild(options.maxDataBytes);
    const { pid } = child;
    const worker: Worker = { child, busy: false, cancelIdleLimit: () => undefined };
    workers.add(worker);
    limitIdleTime(worker);
    options.onEvent?.({ kind: 'started', pid });
    void child.ready.then(() => options.onEvent?.({ kind: 'ready', pid }));
    void child.ended.then((ended) => onEnded(worker, ended));
    return worker;
  }

  /** An idle process holds some 70 MiB. */
  function limitIdleTime(worker: Worker): void {
    worker.cancelIdleLimit = options.clock.after(ENCODER_IDLE_MS, () => end(worker, 'idle'));
  }

  function onEnded(worker: Worker, ended: ProcessEnd): void {
    workers.delete(worker);
    worker.cancelIdleLimit();
    if (ended.reason !== 'closed' && ended.reason !== 'idle') restarts += 1;
    options.onEvent?.({ kind: 'ended', pid: worker.child.pid, ...ended });
  }

  /** Frees the place at once, although a killed process may take a while to release its memory. */
  function end(worker: Worker, reason: KillReason): void {
    worker.cancelIdleLimit();
    worker.child.kill(reason);
    workers.delete(worker);
  }

  async function runOn(worker: Worker, task: EncoderTask): Promise<TaskReply> {
    const { deadlineMs } = options;
    const { pid } = worker.child;
    const startedAtCpuMs = cpuMsOf(pid);
    const cancelDeadline = options.clock.after(deadlineMs, () => {
      const isExhausted = cpuMsOf(pid) - startedAtCpuMs >= EXHAUSTED_SHARE * deadlineMs;
      end(worker, isExhausted ? 'exhausted' : 'deadline');
    });
    try {
      const reply = await worker.child.run(task);
      worker.busy = false;
      if (!reply.ok) end(worker, 'failed');
      else if (reply.rssBytes > options.maxRssBytes) end(worker, 'grown');
      else limitIdleTime(worker);
      return reply;
    } finally {
      cancelDeadline();
    }
  }

  function countBusy(): number {
    return [...workers].filter((worker) => worker.busy).length;
  }

  return {
    stats: () => ({ running: countBusy(), processes: workers.size, restarts }),
    places: options.processes,
    warmUp() {
      if (workers.size === 0 && !isClosed) start();
    },
    async run(task) {
      const worker = [...workers].find(({ busy }) => !busy) ?? start();
      worker.busy = true;
      worker.cancelIdleLimit();
      return runOn(worker, task);
    },
    async close() {
      isClosed = true;
      const all = [...workers];
      for (const worker of all) end(worker, 'closed');
      await Promise.all(all.map((worker) => worker.child.ended));
    },
  };
}

/** USER_HZ, the unit of times in /proc, is 100 on every processor that Node supports. */
const MS_PER_TICK = 10;

/** CPU time of all threads of the process. 0 for a process that does not exist, and outside of Linux. */
function cpuMsOf(pid: number | undefined): number {
  let stat: string;
  try {
    stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
  } catch {
    return 0;
  }
  // The name may contain spaces and parentheses. User time and system time are fields 14 and 15 (proc(5)).
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) * MS_PER_TICK;
}

const MIB = 1024 * 1024;
/** A new process takes 70 MiB. With a good allocator, a process that encodes common banners stays below this. */
const MIN_RSS_BYTES = 192 * MIB;
const MAX_RSS_BYTES = 512 * MIB;
/** A banner of 4,096×2,304 as AVIF takes 320 MiB. */
const MIN_DATA_BYTES = 384 * MIB;
/** The largest originals as AVIF of 4,096×4,096 take 1.3 GiB. */
const MAX_DATA_BYTES = 1_536 * MIB;

export type PoolSize = Pick<EncoderPoolOptions, 'processes' | 'maxRssBytes' | 'maxDataBytes'>;

/**
 * The number of encoder processes, and the memory that each may have. Between jobs they keep at most half of the memory
 * together; the other half is for the server and the page cache. During jobs, those that one network may have at a time
 * take at most two thirds.
 *
 * @param wanted the number of processes if the operator has chosen it
 */
export function poolSizeFor({ cpus, memoryBytes }: ResourceLimits, wanted?: number): PoolSize {
  const share = memoryBytes / 2;
  const processes = wanted ?? Math.max(1, Math.min(cpus, Math.floor(share / MIN_RSS_BYTES)));
  const bounded = (least: number, bytes: number, most: number) => Math.max(least, Math.min(most, Math.floor(bytes)));
  return {
    processes,
    maxRssBytes: bounded(MIN_RSS_BYTES, share / processes, MAX_RSS_BYTES),
    maxDataBytes: bounded(MIN_DATA_BYTES, (memoryBytes * 2) / 3 / maxPlacesOfNetwork(processes), MAX_DATA_BYTES),
  };
}

/** How many processes the tasks of one network may have at a time: the last one is for others. */
export function maxPlacesOfNetwork(processes: number): number {
  return Math.max(1, processes - 1);
}
