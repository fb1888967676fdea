import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { childrenOf, type ServiceOptions, type ServiceProcess, startService } from '../helpers/service-process.ts';
import { loadAverage, type Report } from './report.ts';

/** What a subject of the fault suite works with. */
export interface FaultContext {
  readonly report: Report;
  /** The full numbers of times; otherwise the short form. */
  readonly isLong: boolean;
  /** How long an attack goes on. */
  readonly attackMs: number;
  newDirectory(): Promise<string>;
  /** A service that is killed when the subject is over, whatever becomes of it. */
  start(options?: Partial<ServiceOptions>): Promise<ServiceProcess>;
  /** Ends what was started. */
  cleanUpServices(): Promise<void>;
  /** Ends what was started and removes what was written. */
  cleanUp(): Promise<void>;
}

export interface Subject {
  readonly name: string;
  run(context: FaultContext): Promise<void>;
}

export function createContext(report: Report, { isLong }: { readonly isLong: boolean }): FaultContext {
  const directories: string[] = [];
  const services: ServiceProcess[] = [];

  async function newDirectory(): Promise<string> {
    const directory = await mkdtemp(join(tmpdir(), 'pennant-faults-'));
    directories.push(directory);
    return directory;
  }

  async function cleanUpServices(): Promise<void> {
    for (const { child, ended } of services.splice(0)) {
      child.kill('SIGKILL');
      await ended;
    }
  }

  return {
    report,
    isLong,
    attackMs: isLong ? 60_000 : 10_000,
    newDirectory,
    async start(options = {}) {
      const service = await startService({ directory: options.directory ?? (await newDirectory()), ...options });
      services.push(service);
      return service;
    },
    cleanUpServices,
    async cleanUp() {
      await cleanUpServices();
      for (const directory of directories.splice(0)) await rm(directory, { recursive: true, force: true });
    },
  };
}

/** Ends a service in order; its exit code, or the signal that ended it. */
export async function stopService({ child, ended }: ServiceProcess): Promise<number | NodeJS.Signals> {
  child.kill('SIGTERM');
  return ended;
}

/** Waits until something is so, at most for so long; whether it came to be. */
export async function comesTrue(condition: () => Promise<boolean> | boolean, withinMs: number): Promise<boolean> {
  const endMs = performance.now() + withinMs;
  while (performance.now() < endMs) {
    if (await condition()) return true;
    await sleep(100);
  }
  return condition();
}

export interface TimedOutcome {
  readonly ms: number;
  readonly faults: readonly string[];
}

/** Measures a time, and once more when it is over the limit: the machine is shared. */
export async function timed(what: string, limitMs: number, measure: () => Promise<number>): Promise<TimedOutcome> {
  const first = await measure();
  const ms = first <= limitMs ? first : Math.min(first, await measure());
  const fault = `${what} took ${ms.toFixed(0)} ms, more than ${limitMs} ms (${loadAverage()})`;
  return { ms, faults: ms <= limitMs ? [] : [fault] };
}

/** The encoder processes, once there are any. */
export async function encodersOf({ pid }: ServiceProcess): Promise<number[]> {
  await comesTrue(async () => (await childrenOf(pid)).length > 0, 5_000);
  return childrenOf(pid);
}

/** The private listener's metrics as text. */
export async function metricsOf({ inside }: ServiceProcess): Promise<string> {
  return (await fetch(`${inside}/metrics`)).text();
}

/** One metric's value; 0 while it has none. */
export function metricValue(metrics: string, name: string): number {
  const line = metrics.split('\n').find((candidate) => candidate.startsWith(`${name} `));
  return Number(line?.slice(name.length + 1) ?? 0);
}
