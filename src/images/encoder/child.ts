import { fork } from 'node:child_process';
import { existsSync } from 'node:fs';
import { extname } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { EncoderGreeting, EncoderTask, TaskReply } from './job.ts';
import { readEncoderVersion } from './version.ts';

/** The same extension as this file has: the source runs as `.ts`, and compiled as `.js`. */
const PROGRAM = fileURLToPath(new URL(`./start${extname(import.meta.url)}`, import.meta.url));

/** Where Debian, Fedora, Alpine and a build of one's own put it. */
const JEMALLOC_PATHS = [
  '/usr/lib/x86_64-linux-gnu/libjemalloc.so.2',
  '/usr/lib/aarch64-linux-gnu/libjemalloc.so.2',
  '/usr/lib64/libjemalloc.so.2',
  '/usr/lib/libjemalloc.so.2',
  '/usr/local/lib/libjemalloc.so.2',
];

/** As it is when the server starts. */
const SERVER_VERSION = readEncoderVersion();
/** The last lines that a process has written on stderr. */
const MAX_STDERR_CHARACTERS = 2_000;

/** A running encoder process, seen from the server. */
export interface EncoderChild {
  readonly pid: number | undefined;
  /** Settles when the process is gone, however that came about. */
  readonly ended: Promise<void>;
  /** Settles when it takes tasks; never, when it ends before. */
  readonly ready: Promise<void>;
  /** Why no process of this kind can work for this server, in the operator's words; `undefined`: nothing of the sort. */
  unusableReason(): string | undefined;
  /** What it has written on stderr, cut to the last lines. */
  stderr(): string;
  /** One task at a time. Rejects when the process ends or is killed before it has answered. */
  run(task: EncoderTask): Promise<TaskReply>;
  /** At once, whatever it is doing. */
  kill(): void;
}

export function startEncoderChild(): EncoderChild {
  const child = fork(PROGRAM, {
    serialization: 'advanced',
    // Nothing of the server's environment (secrets) or flags (a debugger's port) goes to a process that decodes what
    // strangers have made.
    env: allocatorEnvironment(),
    execArgv: ['--expose-gc'],
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  });

  let pending: PromiseWithResolvers<TaskReply> | undefined;
  let unusableReason: string | undefined;
  let stderr = '';
  const { promise: ready, resolve: onReady } = Promise.withResolvers<void>();
  let isReady = false;
  const ended = new Promise<void>((resolve) => {
    child.once('close', (code) => {
      // By itself, before it could say anything: its files are gone.
      if (!isReady && code !== null && code !== 0) unusableReason ??= cannotBeLoaded(errorLineIn(stderr));
      resolve();
    });
    child.on('error', () => {
      if (child.pid === undefined) resolve();
    });
  });
  void ended.then(() => pending?.reject(new Error('The encoder process ended')));
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    stderr = (stderr + text).slice(-MAX_STDERR_CHARACTERS);
  });
  child.once('message', (greeting) => {
    unusableReason = findMismatch(greeting as EncoderGreeting);
    if (unusableReason !== undefined) {
      child.kill('SIGKILL');
      return;
    }
    child.on('message', (reply) => pending?.resolve(reply as TaskReply));
    isReady = true;
    onReady();
  });

  return {
    pid: child.pid,
    ended,
    ready,
    unusableReason: () => unusableReason,
    stderr: () => stderr.trimEnd(),
    run(task) {
      pending = Promise.withResolvers();
      void ready.then(() =>
        child.send(task, (error) => {
          if (error !== null) child.kill('SIGKILL');
        }),
      );
      return pending.promise;
    },
    kill() {
      child.kill('SIGKILL');
      // Not when it is gone: at the lowest priority that can take seconds on a busy machine, and somebody waits.
      pending?.reject(new Error('The encoder process was killed'));
    },
  };
}

function findMismatch(greeting: EncoderGreeting): string | undefined {
  if (greeting.kind === 'unusable') return cannotBeLoaded(greeting.reason);
  if (greeting.version === SERVER_VERSION) return undefined;
  return 'is of another version than this server, whose files were replaced while it ran: restart it';
}

function cannotBeLoaded(reason: string): string {
  const [firstLine = ''] = reason.split('\n', 1);
  return `cannot be loaded (${firstLine}): if the server’s files were replaced while it ran, restart it`;
}

/** Node writes the source line first, then the error. */
function errorLineIn(stderr: string): string {
  return stderr.split('\n').find((line) => /^\w*Error\b/.test(line)) ?? 'no reason given';
}

/**
 * Freed memory goes back to the system within about a second, while a process waits for work too. Not sooner: by itself
 * jemalloc gives back at once what is larger than 8 MiB and takes new pages where a small piece of a large one would do,
 * so that the next picture costs thousands of page faults (docs/images.md). Huge pages would spare more of them, at the
 * price of requests that wait for the kernel to clear those.
 */
const JEMALLOC_OPTIONS = [
  'narenas:4',
  'oversize_threshold:0',
  'lg_extent_max_active_fit:20',
  'background_thread:true',
  'dirty_decay_ms:1000',
  'muzzy_decay_ms:0',
].join(',');

/** glibc keeps what many threads' arenas have freed: it grew from 304 to 624 MiB over 240 pictures, jemalloc did not. */
function allocatorEnvironment(): Record<string, string> {
  const jemalloc = JEMALLOC_PATHS.find((file) => existsSync(file));
  const allocator =
    jemalloc === undefined ? { MALLOC_ARENA_MAX: '2' } : { LD_PRELOAD: jemalloc, MALLOC_CONF: JEMALLOC_OPTIONS };
  return { ...allocator, UV_THREADPOOL_SIZE: '2' };
}
