import type { Clock } from '../../lib/clock.ts';
import { readProcessStat } from './process-stat.ts';

/** A stopped process is noticed after two of these. */
export const LOOK_EVERY_MS = 250;

/**
 * Calls back when the process has been stopped by a signal (SIGSTOP, for example) and has not run between two looks at it.
 * A process that is only slow, on a busy machine, is never taken for a stopped one, because the kernel is asked. Nor is
 * one that a CPU limiter stops and continues many times a second.
 *
 * Only on Linux: elsewhere it never calls back.
 *
 * @returns a function that ends it
 */
export function whenStopped(pid: number, clock: Clock, callback: () => void): () => void {
  let stoppedAtCpuMs: number | undefined;
  let cancel = clock.after(LOOK_EVERY_MS, look);

  function look(): void {
    const { state, cpuMs } = readProcessStat(pid) ?? {};
    if (state === 'T' && cpuMs === stoppedAtCpuMs) {
      callback();
      return;
    }
    stoppedAtCpuMs = state === 'T' ? cpuMs : undefined;
    cancel = clock.after(LOOK_EVERY_MS, look);
  }

  return () => cancel();
}
