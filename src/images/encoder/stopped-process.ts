import { readFileSync } from 'node:fs';
import type { Clock } from '../../lib/clock.ts';

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
  let stoppedAtTicks: number | undefined;
  let cancel = clock.after(LOOK_EVERY_MS, look);

  function look(): void {
    const ticks = findStoppedAtTicks(pid);
    if (ticks !== undefined && ticks === stoppedAtTicks) {
      callback();
      return;
    }
    stoppedAtTicks = ticks;
    cancel = clock.after(LOOK_EVERY_MS, look);
  }

  return () => cancel();
}

/** The CPU time of a stopped process in ticks. `undefined` if it is not stopped, or cannot be read. */
function findStoppedAtTicks(pid: number): number | undefined {
  let stat: string;
  try {
    stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
  } catch {
    return undefined;
  }
  // The name may contain spaces and parentheses. State, user time and system time are fields 3, 14 and 15 (proc(5)).
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return fields[0] === 'T' ? Number(fields[11]) + Number(fields[12]) : undefined;
}
