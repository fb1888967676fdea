import { isMainThread } from 'node:worker_threads';
import { HANGING_CHANNEL } from './thread-channel.ts';

/** Readers for the tests of `src/lib/http/body-reader.ts`: each does in its thread what its name says. */

export function whereItRuns(): string {
  return isMainThread ? 'event loop' : 'thread';
}

/** Never ends. Says so before. */
export function hang(): never {
  new BroadcastChannel(HANGING_CHANNEL).postMessage('begun');
  for (;;);
}

export function endThread(): never {
  process.exit(1);
}

export function fail(): never {
  throw new TypeError('a bug in a reader');
}
