import { readdir } from 'node:fs/promises';
import { DatabaseSync } from 'node:sqlite';
import type { ServiceProcess } from '../helpers/process.ts';
import { metricsOf } from './context.ts';

interface LogLine {
  readonly part?: string;
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

/** How often the log reports that a component fails and that it works again. Each should be there once. */
function statesOf(service: ServiceProcess, part: string): { readonly failed: number; readonly recovered: number } {
  const lines = logOf(service).filter((line) => line.part === part);
  const recovered = lines.filter(({ msg }) => msg.endsWith('works again')).length;
  return { failed: lines.length - recovered, recovered };
}

const STORED_PARTS = ['images', 'cache'];

/**
 * Components whose failure and recovery are not logged exactly once each.
 *
 * @param failing components that must have failed. Others may have.
 */
export function findUnclearStates(service: ServiceProcess, failing: readonly string[]): string[] {
  return STORED_PARTS.flatMap((part) => {
    const { failed, recovered } = statesOf(service, part);
    const isClear = recovered === failed && (failed === 1 || (failed === 0 && !failing.includes(part)));
    return !isClear ? [`${part}: reported failed ${failed}, working ${recovered} times`] : [];
  });
}

/** Whether `/metrics` reports a component as degraded. */
export async function isDegraded(service: ServiceProcess, part?: string): Promise<boolean> {
  const metrics = await metricsOf(service);
  if (part === undefined) return metrics.includes('pennant_part_degraded{');
  // The series exists only while the component is degraded.
  return metrics.includes(`pennant_part_degraded{part="${part}"} 1\n`);
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
