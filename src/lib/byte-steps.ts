import { setImmediate } from 'node:timers/promises';

/** About 2 ms of hashing. */
const STEP_BYTES = 4 * 1024 * 1024;

/** The bytes in parts, with a turn of the event loop between them: hashing 16 MiB at once would block it for too long. */
export async function* inSteps(bytes: Buffer): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += STEP_BYTES) {
    if (at > 0) await setImmediate();
    yield bytes.subarray(at, at + STEP_BYTES);
  }
}
