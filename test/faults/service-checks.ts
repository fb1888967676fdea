import { readdir } from 'node:fs/promises';
import { DatabaseSync } from 'node:sqlite';
import type { ServiceProcess } from '../helpers/process.ts';

interface LogLine {
  readonly kind?: string;
  readonly reason?: string;
  readonly msg: string;
}

/** The lines of the service's log, without the start message. */
export function logOf({ output }: ServiceProcess): readonly LogLine[] {
  return output()
    .split('\n')
    .filter((line) => line.startsWith('{') && line.endsWith('}'))
    .map((line) => JSON.parse(line) as LogLine);
}

/** Files, sockets and pipes that are open. */
export async function countDescriptors({ pid }: ServiceProcess): Promise<number> {
  return (await readdir(`/proc/${pid}/fd`)).length;
}

/** @returns SQLite's integrity check of a database: `ok` if it is intact */
export function integrityOf(path: string): string {
  const db = new DatabaseSync(path);
  const result = db.prepare('PRAGMA integrity_check').get()?.integrity_check;
  db.close();
  return String(result);
}
