import { fork } from 'node:child_process';
import { extname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { AppError } from '../../domain/errors.ts';
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
export interface ProcessEnd {
  readonly reason: EndReason;
  readonly detail: string;
}

/** Two cores process a full queue of common images in about this time. */
export const RETRY_AFTER_MS = 5_000;
/** How long an image is refused that missed its deadline. Otherwise a few images could keep the encoders busy. */
const MISSED_MS = 60_000;

/** The process of a task ended before it responded. */
export class TaskInterrupted extends AppError {
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

/** How much of a process's stderr is kept. */
const MAX_STDERR_CHARACTERS = 8_000;

/** A running encoder process. */
export interface EncoderChild {
  readonly pid: number | undefined;
  /** Settles when the process has ended for any reason. */
  readonly ended: Promise<ProcessEnd>;
  /** Resolves when the process accepts tasks. @throws TaskInterrupted if it ends or is killed before that */
  readonly ready: Promise<void>;
  /** Runs one task at a time. @throws TaskInterrupted if the process ends or is killed before it has responded */
  run(task: EncoderTask): Promise<TaskReply>;
  kill(reason: EndReason): void;
}

/** @param maxDataBytes how much memory the process may allocate for its tasks; only Linux with util-linux limits it */
export function startEncoderChild(maxDataBytes: number): EncoderChild {
  const child = fork(PROGRAM, [String(maxDataBytes)], {
    serialization: 'advanced',
    // A process that decodes untrusted files gets nothing of the server's environment (secrets) or flags (debugger port).
    env: ENVIRONMENT,
    execArgv: ['--expose-gc', '--disable-sigusr1'],
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  });
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

  child.once('close', handleEnd);
  child.on('error', () => {
    if (child.pid === undefined) handleEnd(null);
  });
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    stderr = (stderr + text).slice(-MAX_STDERR_CHARACTERS);
  });
  // The first message says that it has loaded its code.
  const ready = nextMessage<unknown>().then(() => {
    isReady = true;
  });
  // It may end before anybody waits for it.
  ready.catch(() => undefined);

  return {
    pid: child.pid,
    ended,
    ready,
    async run(task) {
      const reply = nextMessage<TaskReply>();
      child.send(task, (error) => {
        if (error !== null) child.kill('SIGKILL');
      });
      return reply;
    },
    kill(reason) {
      end ??= { reason, detail: '' };
      child.kill('SIGKILL');
      // At once: on a busy machine, the end of a process with low priority can take seconds.
      life.abort(new TaskInterrupted(end.reason));
    },
  };
}

/** Why the code could not be loaded. @param stderr has the source line first, then the error */
function loadProblem(stderr: string): string {
  const [, reason = 'no reason given'] = /^\w*Error(?: \[\w+\])?: (.*)/m.exec(stderr) ?? [];
  return `cannot be loaded (${reason}): if the server’s files were replaced while it ran, restart it`;
}
