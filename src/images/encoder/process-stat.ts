import { readFileSync } from 'node:fs';

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
