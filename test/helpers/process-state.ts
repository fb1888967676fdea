import { readFile } from 'node:fs/promises';

/** A process's CPU time in ticks of 10 ms, or undefined if it does not exist or has ended. */
export async function cpuTicks(pid: number | undefined): Promise<number | undefined> {
  const fields = await readFields(pid);
  if (fields === undefined || fields[0] === 'Z' || fields[0] === 'X') return undefined;
  return Number(fields[11]) + Number(fields[12]);
}

/** The fields after the name, which may contain spaces (proc(5)). */
export function statFields(stat: string): string[] {
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ');
}

function readFields(pid: number | undefined): Promise<string[] | undefined> {
  return readFile(`/proc/${pid}/stat`, 'utf8').then(statFields, () => undefined);
}
