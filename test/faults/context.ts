import { readFileSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createHttpSender, type HttpSender } from '../helpers/http-request.ts';
import { readMetrics } from '../helpers/metrics.ts';
import {
  type CommandOptions,
  childrenOf,
  isRunning,
  PROGRAM,
  type ServiceProcess,
  startService,
} from '../helpers/process.ts';
import { HANG_MS } from '../helpers/wait.ts';
import type { Outcome, Report } from './report.ts';

const ORPHAN_MS = 10_000;
/** Otherwise the heap of a busy service takes 100 MiB more (docs/performance.md). */
const STARTED_PROGRAM = [process.execPath, ...startOptions(), PROGRAM];

/** The tools of a subject of the fault suite. */
export interface FaultContext {
  readonly report: Report;
  /** Whether to use the full numbers instead of the short form. */
  readonly isLong: boolean;
  /** Duration of an attack. */
  readonly attackMs: number;
  /** Runs an attack and reports the result. */
  measure(subject: string, attack: string, attempt: () => Promise<Outcome>): Promise<void>;
  newDirectory(): Promise<string>;
  /** A service as `npm start` starts it. It is killed when the subject ends, in any case. */
  start(options?: Partial<CommandOptions>): Promise<FaultService>;
  /** Ends all started processes. */
  cleanUpServices(): Promise<void>;
  /** Ends all started processes and removes all written files. */
  cleanUp(): Promise<void>;
}

/** A service with its own client, which is closed with it. */
export interface FaultService extends ServiceProcess {
  readonly client: HttpSender;
}

export interface Subject {
  readonly name: string;
  /** It measures how long requests wait, so nothing may run beside it. */
  readonly needsQuiet?: boolean;
  run(context: FaultContext): Promise<void>;
}

export interface ContextOptions {
  readonly isLong: boolean;
  /** Whether an attack of this name is selected. */
  readonly isChosen: (attack: string) => boolean;
}

export function createContext(report: Report, { isLong, isChosen }: ContextOptions): FaultContext {
  const directories: string[] = [];
  const services: FaultService[] = [];

  async function newDirectory(): Promise<string> {
    const directory = await mkdtemp(join(tmpdir(), 'pennant-faults-'));
    directories.push(directory);
    return directory;
  }

  async function cleanUpServices(): Promise<void> {
    for (const { child, ended, client } of services.splice(0)) {
      client.close();
      child.kill('SIGKILL');
      await ended;
    }
  }

  return {
    report,
    isLong,
    attackMs: isLong ? 60_000 : 3_000,
    newDirectory,
    async start(options = {}) {
      const directory = options.directory ?? (await newDirectory());
      const running = await startService({ directory, program: STARTED_PROGRAM, ...options });
      const service = { ...running, client: createHttpSender(running.port) };
      services.push(service);
      return service;
    },
    async measure(subject, attack, attempt) {
      if (!isChosen(attack)) return;
      const startedAtMs = performance.now();
      const outcome = await attempt().catch(unfinished);
      report.add(subject, attack, outcome, (performance.now() - startedAtMs) / 1000);
    },
    cleanUpServices,
    async cleanUp() {
      await cleanUpServices();
      for (const directory of directories.splice(0)) await rm(directory, { recursive: true, force: true });
    },
  };
}

/** The options that `npm start` gives to Node. */
function startOptions(): readonly string[] {
  const { scripts } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));
  const options = /^node (.*) dist\/pennant\.js serve$/.exec(scripts.start)?.[1];
  if (options === undefined) throw new Error(`no options for Node in "${scripts.start}"`);
  return options.split(' ');
}

/** The result of an attack that did not finish. */
export function unfinished(error: unknown): Outcome {
  return { measured: 'not finished', faults: [String((error as Error).stack)] };
}

/** Stops a service. @returns the problems with its end */
export async function stopService({ child, ended }: ServiceProcess): Promise<string[]> {
  child.kill('SIGTERM');
  const exit = await ended;
  return exit === 0 ? [] : [`stopped with ${exit}`];
}

/** Waits at most this long until the condition holds. @returns whether it does */
export async function comesTrue(condition: () => Promise<boolean> | boolean, withinMs: number): Promise<boolean> {
  const endMs = performance.now() + withinMs;
  while (performance.now() < endMs) {
    if (await condition()) return true;
    await sleep(100);
  }
  return condition();
}

/**
 * The encoder processes, as soon as there are any and all of them run their own program. Until then a child still has the
 * command line of the service, which waits for it: stopping that child would stop the service.
 */
export async function encodersOf({ pid }: ServiceProcess): Promise<number[]> {
  let encoders: number[] = [];
  await comesTrue(async () => {
    encoders = await childrenOf(pid);
    const [own, ...others] = await Promise.all([pid, ...encoders].map(commandLineOf));
    return encoders.length > 0 && !others.includes(own);
  }, HANG_MS);
  return encoders;
}

function commandLineOf(pid: number): Promise<string | undefined> {
  return readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => undefined);
}

/** Waits for the encoders of a service that has ended. At their lower priority they may need a while. */
export async function findOrphans(encoders: readonly number[]): Promise<string[]> {
  const areGone = async () => !(await Promise.all(encoders.map(isRunning))).includes(true);
  return (await comesTrue(areGone, ORPHAN_MS)) ? [] : ['an encoder process outlived the service'];
}

/** The private listener's metrics as text. */
export async function metricsOf({ inside }: ServiceProcess): Promise<string> {
  const response = await fetch(`${inside}/metrics`);
  if (!response.ok) throw new Error(`/metrics returned ${response.status}`);
  return response.text();
}

/**
 * The value of one series in the text of `/metrics`.
 *
 * @param initial the value of a labelled series before its first observation
 * @throws Error if there is no such series, and no initial value
 */
export function metricValue(metrics: string, series: string, initial?: number): number {
  const value = readMetrics(metrics).get(series) ?? initial;
  if (value === undefined) throw new Error(`/metrics has no series ${series}`);
  return value;
}
