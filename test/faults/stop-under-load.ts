import { setTimeout as sleep } from 'node:timers/promises';
import { repeat } from '../helpers/load.ts';
import type { FaultContext } from './context.ts';
import { CHANNELS, freshImageUrl } from './mixed-load.ts';
import { loadAverage, type Outcome } from './report.ts';
import { findEmptySamples, findResponseFault, isRefusal } from './response-faults.ts';

interface SentRequest {
  readonly url: string;
  /**
   * The service must send a response: it was not stopping yet when the request ended, or it has confirmed that it read the
   * request.
   */
  readonly isAccepted: boolean;
  readonly fault: string | undefined;
  /** With status 200. */
  readonly wasSent: boolean;
}

/** SIGTERM during requests for records and new images. Afterwards every sent image must be stored. */
export async function stopUnderLoad(context: FaultContext, maxStopMs: number): Promise<Outcome> {
  const directory = await context.newDirectory();
  const service = await context.start({ directory });
  const { client } = service;
  const requests: SentRequest[] = [];
  let isStopping = false;
  const load = repeat(12, async () => {
    const url = Math.random() < 0.3 ? `/api/channel/${CHANNELS[0]}` : freshImageUrl({ from: 100, to: 1_000 });
    let isAccepted = false;
    const sent = client.send({
      url,
      onAccepted: () => {
        isAccepted = true;
      },
    });
    let wasSent = false;
    const fault = await sent.then(
      (response) => {
        wasSent = response.status === 200;
        return isStopping && isRefusal(response) ? undefined : findResponseFault(url, response);
      },
      (error: Error) => {
        isAccepted ||= !isStopping;
        return error.message;
      },
    );
    requests.push({ url, isAccepted, fault, wasSent });
    if (fault !== undefined) await sleep(20);
  });
  await sleep(500 + Math.random() * 1_000);
  isStopping = true;
  const signalledAtMs = performance.now();
  service.child.kill('SIGTERM');
  const exit = await service.ended;
  const tookMs = performance.now() - signalledAtMs;
  await load.stop();

  const accepted = requests.filter(({ isAccepted }) => isAccepted);
  const faults = accepted.filter(({ fault }) => fault !== undefined).map(({ url, fault }) => `${url}: ${fault}`);
  faults.push(...findEmptySamples({ 'accepted requests': accepted.length }));
  if (exit !== 0) faults.push(`ended with ${exit}`);
  faults.push(...(await findForgotten(context, directory, accepted)));
  const took = `${(tookMs / 1000).toFixed(1)} s`;
  return {
    measured: `${accepted.length} accepted, all served and still stored; exit ${exit} after ${took}`,
    faults,
    exceeded: tookMs > maxStopMs ? [`stopping took ${took} (${loadAverage()})`] : [],
  };
}

/** Images that were sent before the stop and are not stored after it. */
async function findForgotten(
  context: FaultContext,
  directory: string,
  accepted: readonly SentRequest[],
): Promise<string[]> {
  const service = await context.start({ directory });
  const { client } = service;
  const images = accepted.filter(({ url, wasSent }) => wasSent && url.includes('?width=')).slice(-10);
  const faults = findEmptySamples({ 'sent images': images.length });
  for (const { url } of images) {
    const { status, headers } = await client.send({ url });
    const isThere = status === 200 && String(headers['cache-status']).startsWith('pennant; hit');
    if (!isThere) faults.push(`${url} was not stored: ${status}, ${headers['cache-status']}`);
  }
  await context.cleanUpServices();
  return faults;
}
