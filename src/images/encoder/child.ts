import { fork } from 'node:child_process';
import { existsSync } from 'node:fs';
import { extname } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { EncoderGreeting, EncoderTask, TaskReply } from './job.ts';
import { readEncoderVersion } from './version.ts';

/** With the extension of this file: the source runs as `.ts`, compiled code as `.js`. */
const PROGRAM = fileURLToPath(new URL(`./start${extname(import.meta.url)}`, import.meta.url));

/** The paths of Debian, Fedora, Alpine and local builds. */
const JEMALLOC_PATHS = [
  '/usr/lib/x86_64-linux-gnu/libjemalloc.so.2',
  '/usr/lib/aarch64-linux-gnu/libjemalloc.so.2',
  '/usr/lib64/libjemalloc.so.2',
  '/usr/lib/libjemalloc.so.2',
  '/usr/local/lib/libjemalloc.so.2',
];

/** The version of the files when the server started. */
const SERVER_VERSION = readEncoderVersion();
/** How much of a process's stderr is kept. */
const MAX_STDERR_CHARACTERS = 2_000;

export type EncoderChild = ReturnType<typeof startEncoderChild>;

/** Starts an encoder process. */
export function startEncoderChild() {
  const child = fork(PROGRAM, {
    serialization: 'advanced',
    // A process that decodes untrusted files gets nothing of the server's environment (secrets) or flags (debugger port).
    env: { ...allocatorEnvironment(), ...compileCacheEnvironment() },
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
      // It ended by itself before its first message: its files are gone.
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
    /** Settles when the process has ended for any reason. */
    ended,
    /** Settles when it accepts tasks; never if it ends before that. */
    ready,
    /** Why such a process cannot work for this server, for the operator; `undefined` if it can. */
    unusableReason: () => unusableReason,
    /** The end of what it has written to stderr. */
    stderr: () => stderr.trimEnd(),
    /** Runs one task at a time. Rejects if the process ends or is killed before it has responded. */
    run(task: EncoderTask): Promise<TaskReply> {
      pending = Promise.withResolvers();
      void ready.then(() =>
        child.send(task, (error) => {
          if (error !== null) child.kill('SIGKILL');
        }),
      );
      return pending.promise;
    },
    /** Kills the process at once. */
    kill(): void {
      child.kill('SIGKILL');
      // Without waiting for its end, which can take seconds at low priority on a busy machine.
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
 * Freed memory returns to the system within about a second, also while a process is idle. With its defaults jemalloc
 * returns blocks larger than 8 MiB at once and prefers new pages to a part of a large block, so that the next picture costs
 * thousands of page faults (docs/images.md). Huge pages would avoid more of them, but requests would wait for the kernel to
 * clear them.
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

/** Without the cache, stripping types doubles the CPU time of the start, and its code keeps 25 MiB for good. */
function compileCacheEnvironment(): Record<string, string> {
  const directory = process.env.NODE_COMPILE_CACHE;
  return directory === undefined ? {} : { NODE_COMPILE_CACHE: directory };
}
