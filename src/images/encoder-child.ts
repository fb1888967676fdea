import { fork } from 'node:child_process';
import { existsSync } from 'node:fs';
import { extname } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { EncoderTask, TaskReply } from './encoder-messages.ts';

/** The same extension as this file has: the source runs as `.ts`, and compiled as `.js`. */
const PROGRAM = fileURLToPath(new URL(`./encoder-process${extname(import.meta.url)}`, import.meta.url));

/** Where Debian, Fedora, Alpine and a build of one's own put it. */
const JEMALLOC_PATHS = [
  '/usr/lib/x86_64-linux-gnu/libjemalloc.so.2',
  '/usr/lib/aarch64-linux-gnu/libjemalloc.so.2',
  '/usr/lib64/libjemalloc.so.2',
  '/usr/lib/libjemalloc.so.2',
  '/usr/local/lib/libjemalloc.so.2',
];

/** A running encoder process, seen from the server. */
export interface EncoderChild {
  readonly pid: number | undefined;
  /** Settles when the process is gone, however that came about. */
  readonly ended: Promise<void>;
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
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });

  let pending: PromiseWithResolvers<TaskReply> | undefined;
  const ended = new Promise<void>((resolve) => {
    child.once('exit', () => resolve());
    child.on('error', () => {
      if (child.pid === undefined) resolve();
    });
  });
  void ended.then(() => pending?.reject(new Error('The encoder process ended')));
  child.on('message', (reply) => pending?.resolve(reply as TaskReply));

  return {
    pid: child.pid,
    ended,
    run(task) {
      pending = Promise.withResolvers();
      child.send(task, (error) => {
        if (error !== null) child.kill('SIGKILL');
      });
      return pending.promise;
    },
    kill() {
      child.kill('SIGKILL');
      // Not when it is gone: at the lowest priority that can take seconds on a busy machine, and somebody waits.
      pending?.reject(new Error('The encoder process was killed'));
    },
  };
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
