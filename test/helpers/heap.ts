import { setImmediate as nextTurn } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

/** The least memory in use after a garbage collection: the heap, buffers and long texts. */
async function bytesInUse(): Promise<number> {
  let least = Number.POSITIVE_INFINITY;
  for (let round = 0; round < 6; round += 1) {
    // Weak references and buffers are released between two turns of the event loop, and compiled code even later.
    await nextTurn(collectGarbage());
    const { heapUsed, external } = process.memoryUsage();
    least = Math.min(least, heapUsed + external);
  }
  return least;
}

/**
 * The memory in bytes that the result of `fill` uses. The result is kept alive during the measurement.
 *
 * Only differences of megabytes mean something: compiled code and the test runner take memory too.
 */
export async function measureHeldBytes(fill: () => unknown): Promise<number> {
  const before = await bytesInUse();
  const held = await fill();
  const after = await bytesInUse();
  // A use after the measurement, so that nothing is collected before it.
  return held === measureHeldBytes ? 0 : after - before;
}
