/** Another client's requests in a separate thread, so that the attack does not delay its clock. */
import { setTimeout as sleep } from 'node:timers/promises';
import { parentPort, workerData } from 'node:worker_threads';
import { createHttpSender } from '../helpers/http-request.ts';
import type { ProbeOptions, ProbeResult } from './probe.ts';

if (parentPort === null) throw new Error('This file runs as a worker thread.');
const parent = parentPort;
const { port, urls, pauseMs, headers = {} } = workerData as ProbeOptions;
const client = createHttpSender(port);
const latenciesMs: number[] = [];
const latenessMs: number[] = [];
const faults: string[] = [];
let isStopped = false;
parent.once('message', () => {
  isStopped = true;
});

for (let count = 0; !isStopped; count += 1) {
  const url = urls[count % urls.length] ?? '/';
  const startedAtMs = performance.now();
  try {
    const { status, bytes } = await client.send({ url, headers, signal: AbortSignal.timeout(15_000) });
    if (status !== 200 || bytes.length === 0) faults.push(`${url} returned ${status} with ${bytes.length} bytes`);
  } catch (error) {
    faults.push(`${url} was not responded to: ${(error as Error).message}`);
  }
  const respondedAtMs = performance.now();
  latenciesMs.push(respondedAtMs - startedAtMs);
  if (count === 0) parent.postMessage('begun');
  await sleep(pauseMs);
  latenessMs.push(performance.now() - respondedAtMs - pauseMs);
}
client.close();
parent.postMessage({ latenciesMs, latenessMs, faults } satisfies ProbeResult);
parent.close();
