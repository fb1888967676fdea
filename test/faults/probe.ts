import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import type { ServiceProcess } from '../helpers/process.ts';
import { loadAverage, percentile } from './report.ts';

export interface ProbeOptions {
  readonly port: number;
  /** Requested in turn. */
  readonly urls: readonly string[];
  readonly pauseMs: number;
  readonly headers?: Record<string, string>;
}

export interface ProbeResult {
  readonly latenciesMs: readonly number[];
  /** The delay of the probe's own pauses, which shows how busy the machine is. */
  readonly latenessMs: readonly number[];
  /** Requests that did not get a 200. */
  readonly faults: readonly string[];
}

/** The requests of an ordinary client: a record and an image that are in memory. */
export const HOT_URLS = ['/api/channel/UCPennantSample00000001A', '/UCPennantSample00000001A/avatar.webp?width=96'];

export interface Probe {
  /** Settles after its first response. */
  readonly begun: Promise<unknown>;
  stop(): Promise<ProbeResult>;
}

/** Sends requests like an ordinary client until it is stopped. @param port of either listener */
export function startProbe({ port }: Pick<ServiceProcess, 'port'>, urls: readonly string[] = HOT_URLS): Probe {
  return probe({ port, urls, pauseMs: 10 });
}

/** The same, with a new connection for each request. */
export function startConnectingProbe({ port }: Pick<ServiceProcess, 'port'>): Probe {
  return probe({ port, urls: HOT_URLS, pauseMs: 10, headers: { connection: 'close' } });
}

function probe(workerData: ProbeOptions): Probe {
  const worker = new Worker(new URL('./probe-worker.ts', import.meta.url), { workerData });
  const begun = once(worker, 'message');
  return {
    begun,
    async stop() {
      await begun;
      const result = once(worker, 'message');
      worker.postMessage('stop');
      return (await result)[0] as ProbeResult;
    },
  };
}

export interface LatencyBound {
  readonly what: string;
  /** The share of the requests that must stay below the limit. 1 means all of them. */
  readonly share: number;
  readonly limitMs: number;
}

export interface BoundedLatency {
  /** Includes the machine's own delay if it matters. */
  readonly measured: string;
  readonly exceeded: readonly string[];
}

/** A delay of the machine that does not matter. */
const LITTLE_MS = 5;

/**
 * Whether responses arrived in time. A real attacker would not use this machine's processors. The delay of a thread that
 * only waits is caused by the machine, so it is added to the limit.
 */
export function boundLatency({ latenciesMs, latenessMs }: ProbeResult, bound: LatencyBound): BoundedLatency {
  const ms = percentile(latenciesMs, bound.share);
  const machineMs = percentile(latenessMs, bound.share);
  const measured = `${bound.what} ${ms.toFixed(0)} ms${machineMs > LITTLE_MS ? ` (the machine's own: ${machineMs.toFixed(0)} ms)` : ''}`;
  const isMet = ms <= bound.limitMs + machineMs;
  return { measured, exceeded: isMet ? [] : [`${measured}, more than ${bound.limitMs} ms (${loadAverage()})`] };
}
