import { readFileSync } from 'node:fs';
import type { Clock } from '../../lib/clock.ts';

interface ProcessStat {
  /** One letter: `T` is stopped by a signal. */
  readonly state: string;
  /** CPU time of all its threads since its start. */
  readonly cpuMs: number;
}

/** USER_HZ, the unit of times in /proc, is 100 on every processor that Node supports. */
const MS_PER_TICK = 10;

/** `undefined` for a process that does not exist, and outside of Linux. */
export function readProcessStat(pid: number): ProcessStat | undefined {
  let stat: string;
  try {
    stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
  } catch {
    return undefined;
  }
  // The name may contain spaces and parentheses. State, user time and system time are fields 3, 14 and 15 (proc(5)).
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return { state: fields[0] ?? '', cpuMs: (Number(fields[11]) + Number(fields[12])) * MS_PER_TICK };
}

/** How often the process is looked at. The second look notices that it is stopped. */
export const LOOK_EVERY_MS = 250;

/**
 * Calls back when the process has been stopped by a signal (SIGSTOP, for example) and has not run between two looks at it.
 * The kernel knows the state, so a process that is only slow on a busy machine is never taken for a stopped one. Nor is one
 * that a CPU limiter stops and continues many times a second.
 *
 * Only on Linux: elsewhere it never calls back.
 *
 * @returns a function that ends the looks
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
