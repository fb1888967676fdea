import { setTimeout as sleep } from 'node:timers/promises';
import type { SentResponse } from '../helpers/http-request.ts';
import type { FaultService } from './context.ts';
import { percentile } from './report.ts';

/** For a service that takes the address of a client from its front. */
export const TRUSTED = { TRUST_PROXY: '127.0.0.0/8', BASE_URL: 'https://pennant.example' };

export interface TimedResponse extends SentResponse {
  readonly tookMs: number;
}

/** Sends requests at a steady pace, whether or not the earlier ones have their response. */
export async function askInTurn(
  count: number,
  everyMs: number,
  send: (number: number) => Promise<SentResponse>,
): Promise<TimedResponse[]> {
  const sent: Promise<TimedResponse>[] = [];
  const timed = async (number: number) => {
    const startedAtMs = performance.now();
    const response = await send(number);
    return { ...response, tookMs: performance.now() - startedAtMs };
  };
  for (let number = 0; number < count; number += 1) {
    sent.push(timed(number));
    await sleep(everyMs);
  }
  return Promise.all(sent);
}

export function ask({ client }: FaultService, address: string, url: string): Promise<SentResponse> {
  return client.send({ url, headers: { 'x-forwarded-for': address } });
}

export function describeWaits(waits: readonly number[]): string {
  return `median ${percentile(waits, 0.5).toFixed(0)} ms, longest ${Math.max(...waits).toFixed(0)} ms`;
}
