import { isMainThread } from 'node:worker_threads';

/** Readers for the tests of `src/lib/http/body-reader.ts`: each does what its name says. */

export function whereItRuns(): string {
  return isMainThread ? 'event loop' : 'thread';
}

/** Never ends. Says so before, on the `BroadcastChannel` that has its name. */
export function hang(): never {
  new BroadcastChannel(hang.name).postMessage('begun');
  for (;;);
}

export function endThread(): never {
  process.exit(1);
}

export function fail(): never {
  throw new TypeError('a bug in a reader');
}
