import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import type { ServiceProcess } from '../helpers/service-process.ts';

export interface ProbeOptions {
  readonly servicePort: number;
  /** Asked for in turn. */
  readonly urls: readonly string[];
  readonly pauseMs: number;
}

export interface ProbeResult {
  readonly latenciesMs: readonly number[];
  /** Requests that did not get their 200. */
  readonly faults: readonly string[];
}

/** What an honest client asks for: a record and a picture that are in memory. */
export const HOT_URLS = ['/api/channel/UCPennantSample00000001A', '/UCPennantSample00000001A/avatar.webp?width=96'];

export interface Probe {
  stop(): Promise<ProbeResult>;
}

/** Asks as an honest client until it is stopped. */
export function startProbe({ port }: ServiceProcess, urls: readonly string[] = HOT_URLS): Probe {
  const workerData: ProbeOptions = { servicePort: port, urls, pauseMs: 10 };
  const worker = new Worker(new URL('./probe-worker.ts', import.meta.url), { workerData });
  return {
    async stop() {
      const result = once(worker, 'message');
      worker.postMessage('stop');
      return (await result)[0] as ProbeResult;
    },
  };
}
