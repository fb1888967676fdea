import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import type { ServiceProcess } from '../helpers/service-process.ts';
import { loadAverage, percentile } from './report.ts';

export interface ProbeOptions {
  readonly port: number;
  /** Asked for in turn. */
  readonly urls: readonly string[];
  readonly pauseMs: number;
}

export interface ProbeResult {
  readonly latenciesMs: readonly number[];
  /** How much too late the probe's own pauses ended: what this machine makes everybody wait, whoever is to blame. */
  readonly latenessMs: readonly number[];
  /** Requests that did not get their 200. */
  readonly faults: readonly string[];
}

/** What an honest client asks for: a record and a picture that are in memory. */
export const HOT_URLS = ['/api/channel/UCPennantSample00000001A', '/UCPennantSample00000001A/avatar.webp?width=96'];

export interface Probe {
  stop(): Promise<ProbeResult>;
}

/** Asks as an honest client until it is stopped. @param port of either listener */
export function startProbe({ port }: Pick<ServiceProcess, 'port'>, urls: readonly string[] = HOT_URLS): Probe {
  const workerData: ProbeOptions = { port, urls, pauseMs: 10 };
  const worker = new Worker(new URL('./probe-worker.ts', import.meta.url), { workerData });
  return {
    async stop() {
      const result = once(worker, 'message');
      worker.postMessage('stop');
      return (await result)[0] as ProbeResult;
    },
  };
}

export interface LatencyBound {
  readonly what: string;
  /** The share of the requests that has to stay below the limit; 1 for all of them. */
  readonly share: number;
  readonly limitMs: number;
}

export interface BoundedLatency {
  /** With the machine's own share where that is worth a word. */
  readonly measured: string;
  readonly exceeded: readonly string[];
}

/** A share of the machine's own that is not worth a word. */
const LITTLE_MS = 5;

/**
 * Whether answers came in time. An attacker on the internet would not take this machine's processors: what a thread that
 * does nothing but wait has to wait too long is not the service's, and is added to the limit.
 */
export function boundLatency({ latenciesMs, latenessMs }: ProbeResult, bound: LatencyBound): BoundedLatency {
  const ms = percentile(latenciesMs, bound.share);
  const machineMs = percentile(latenessMs, bound.share);
  const measured = `${bound.what} ${ms.toFixed(0)} ms${machineMs > LITTLE_MS ? ` (the machine's own: ${machineMs.toFixed(0)} ms)` : ''}`;
  const isMet = ms <= bound.limitMs + machineMs;
  return { measured, exceeded: isMet ? [] : [`${measured}, more than ${bound.limitMs} ms (${loadAverage()})`] };
}
