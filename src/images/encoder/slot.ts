import { fork } from 'node:child_process';
import { setPriority } from 'node:os';
import { extname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { AppError } from '../../domain/errors.ts';
import type { Clock } from '../../lib/clock.ts';
import { untilAborted } from '../../lib/deadlines.ts';
import type { EncoderTask, TaskReply } from './job.ts';

/** Why an encoder process ended. Metrics have a series for every reason from the start. */
export const END_REASONS = [
  /** A task, or the start of the process, exceeded its deadline. */
  'deadline',
  'crash',
  /** The process cannot load its code. */
  'unusable',
  /** A task failed. The image library may keep the memory of such a task. */
  'failed',
  /** The process had too much memory after a task. */
  'grown',
  /** The process had no task for a while. */
  'idle',
  /** The encoder was closed. */
  'closed',
] as const;

type EndReason = (typeof END_REASONS)[number];

/** `detail`: the last output of a process that crashed, or why it is unusable (a sentence without its subject), else empty. */
interface ProcessEnd {
  readonly reason: EndReason;
  readonly detail: string;
}

export type ProcessEvent = { readonly pid: number | undefined } & (
  | { readonly kind: 'started' | 'ready' }
  | ({ readonly kind: 'ended' } & ProcessEnd)
);

export interface SlotOptions {
  /** A process with more memory after a task is ended. */
  readonly maxRssBytes: number;
  /** How much memory a process may allocate for its tasks. Only Linux with util-linux limits it. */
  readonly maxDataBytes: number;
  /** The limit of a task. */
  readonly deadlineMs: number;
  readonly clock: Clock;
  /** For logs and metrics. */
  readonly onEvent: (event: ProcessEvent) => void;
}

export type Slot = ReturnType<typeof createSlot>;

/** A process without a task is ended after this time. The next image then waits for the start of another one. */
export const ENCODER_IDLE_MS = 120_000;
/** A start takes a third of a second. A busy machine may need much longer. */
const START_MS = 10_000;
/** Two cores process a full queue of common images in about this time. */
export const RETRY_AFTER_MS = 5_000;
/** How long an image is refused that missed its deadline. Otherwise a few images could keep the encoders busy. */
const MISSED_MS = 60_000;

/** The process of a task ended before it responded. */
class TaskInterrupted extends AppError {
  readonly reason: EndReason;

  constructor(reason: EndReason) {
    const isLate = reason === 'deadline';
    super('overloaded', `The image could not be encoded ${isLate ? 'in time' : 'at the moment'}.`, {
      scope: isLate || reason === 'crash' ? 'key' : 'upstream',
      retryAfterMs: isLate ? MISSED_MS : RETRY_AFTER_MS,
      validForMs: isLate ? MISSED_MS : undefined,
    });
    this.reason = reason;
  }
}

/** Does one task at a time, and has a process for it, which is started on demand. */
export function createSlot({ maxRssBytes, maxDataBytes, deadlineMs, clock, onEvent }: SlotOptions) {
  let current: EncoderProcess | undefined;
  /** Of the start, of the task, or of the time without a task. */
  let cancelLimit: () => void = () => undefined;
  let isClosed = false;

  function start(): EncoderProcess {
    if (isClosed) throw new TaskInterrupted('closed');
    const started = startProcess(maxDataBytes, onEvent);
    current = started;
    void started.ended.then(() => {
      if (current === started) forget();
    });
    return started;
  }

  async function performOnce(task: EncoderTask): Promise<TaskReply> {
    const process = current ?? start();
    limit(START_MS, 'deadline');
    await process.ready;
    limit(deadlineMs, 'deadline');
    const reply = await process.run(task);
    if (!reply.ok) end('failed');
    else if (reply.rssBytes > maxRssBytes) end('grown');
    // An idle process holds up to 140 MiB.
    else limit(ENCODER_IDLE_MS, 'idle');
    return reply;
  }

  function limit(ms: number, reason: EndReason): void {
    cancelLimit();
    cancelLimit = clock.after(ms, () => end(reason));
  }

  /** The next task has another process at once, although a killed one may take a while to release its memory. */
  function end(reason: EndReason): void {
    current?.kill(reason);
    forget();
  }

  function forget(): void {
    cancelLimit();
    current = undefined;
  }

  return {
    /** Starts the process before the first task. */
    warmUp(): void {
      if (current !== undefined || isClosed) return;
      start();
      limit(ENCODER_IDLE_MS, 'idle');
    },
    hasProcess: () => current !== undefined,
    /** @throws TaskInterrupted */
    async run(task: EncoderTask): Promise<TaskReply> {
      try {
        return await performOnce(task);
      } catch (error) {
        // After a deadline it would take as long again.
        if (!(error instanceof TaskInterrupted) || error.reason !== 'crash') throw error;
        return performOnce(task);
      }
    },
    /** Ends the process at once; later tasks fail. */
    async close(): Promise<void> {
      isClosed = true;
      const last = current;
      end('closed');
      await last?.ended;
    },
  };
}

/** The source runs as `.ts`, compiled code as `.js`. */
const PROGRAM = fileURLToPath(new URL(`./process${extname(import.meta.url)}`, import.meta.url));

/**
 * The allocator of glibc with one arena, which keeps freed memory up to 64 MiB for the next image: with its defaults, large blocks
 * go back to the system at once, and each image costs thousands of page faults. The size of a process is checked after each task.
 */
const ENVIRONMENT: NodeJS.ProcessEnv = {
  UV_THREADPOOL_SIZE: '2',
  MALLOC_ARENA_MAX: '1',
  MALLOC_MMAP_THRESHOLD_: String(2 ** 30),
  MALLOC_TRIM_THRESHOLD_: String(64 * 2 ** 20),
};

/**
 * The priority is lower than the server's, so that images delay other requests by milliseconds only (docs/performance.md). With
 * 19, the lowest one, other busy processes leave an encoder less than a hundredth of a core, and every new image times out.
 */
const NICENESS = 5;

/** How much of a process's stderr is kept. */
const MAX_STDERR_CHARACTERS = 8_000;

type EncoderProcess = ReturnType<typeof startProcess>;

function startProcess(maxDataBytes: number, onEvent: SlotOptions['onEvent']) {
  const child = fork(PROGRAM, [String(maxDataBytes)], {
    serialization: 'advanced',
    // A process that decodes untrusted files gets nothing of the server's environment (secrets) or flags (debugger port).
    env: ENVIRONMENT,
    execArgv: ['--expose-gc', '--disable-sigusr1'],
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  });
  const { pid } = child;
  // Its threads, which start later, inherit it.
  if (pid !== undefined) setPriority(pid, NICENESS);
  const { promise: ended, resolve: onEnded } = Promise.withResolvers<ProcessEnd>();
  /** Is aborted with a `TaskInterrupted` when the process ends or is killed. */
  const life = new AbortController();
  let isReady = false;
  let stderr = '';
  /** Known before the end of a process that the server kills. */
  let end: ProcessEnd | undefined;

  function handleEnd(code: number | null): void {
    const isUnusable = !isReady && code !== null && code !== 0;
    end ??= isUnusable
      ? { reason: 'unusable', detail: loadProblem(stderr) }
      : { reason: 'crash', detail: stderr.trimEnd() };
    onEnded(end);
    life.abort(new TaskInterrupted(end.reason));
  }

  function nextMessage<T>(): Promise<T> {
    const { promise, resolve } = Promise.withResolvers<T>();
    child.once('message', (message) => resolve(message as T));
    return untilAborted(promise, life.signal);
  }

  onEvent({ kind: 'started', pid });
  void ended.then((end) => onEvent({ kind: 'ended', pid, ...end }));
  child.once('close', handleEnd);
  child.on('error', () => {
    if (pid === undefined) handleEnd(null);
  });
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    stderr = (stderr + text).slice(-MAX_STDERR_CHARACTERS);
  });
  // The first message says that it has loaded its code.
  const ready = nextMessage<unknown>().then(() => {
    isReady = true;
    onEvent({ kind: 'ready', pid });
  });
  // It may end before anybody waits for it.
  ready.catch(() => undefined);

  return {
    /** Resolves when the process has ended for any reason. */
    ended,
    /** Resolves when the process accepts tasks. @throws TaskInterrupted if it ends or is killed before that */
    ready,
    /** Runs one task at a time. @throws TaskInterrupted if the process ends or is killed before it has responded */
    async run(task: EncoderTask): Promise<TaskReply> {
      const reply = nextMessage<TaskReply>();
      child.send(task, (error) => {
        if (error !== null) child.kill('SIGKILL');
      });
      return reply;
    },
    kill(reason: EndReason): void {
      end = { reason, detail: '' };
      child.kill('SIGKILL');
      // At once: on a busy machine, the end of a process with low priority can take seconds.
      life.abort(new TaskInterrupted(reason));
    },
  };
}

/** Why the code could not be loaded. @param stderr has the source line first, then the error */
function loadProblem(stderr: string): string {
  const [, reason = 'no reason given'] = /^\w*Error(?: \[\w+\])?: (.*)/m.exec(stderr) ?? [];
  return `cannot be loaded (${reason}): if the server’s files were replaced while it ran, restart it`;
}
