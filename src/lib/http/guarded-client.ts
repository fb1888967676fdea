import { setTimeout as delay } from 'node:timers/promises';
import { abortError, currentClient } from '../work.ts';
import type { CallBudget } from './call-budget.ts';
import { ConnectionError, type HttpClient, type HttpRequest, type HttpResponse } from './client.ts';

/** Long enough for an upstream to restart an instance, short enough not to be noticed. */
const MAX_RETRY_DELAY_MS = 200;

/**
 * An HTTP client with a call budget, in which each attempt counts for the requesting client. Retries once after a
 * connection error or a 5xx, but not after a 4xx (429 included) or a time-out. POSTs are retried too: all our calls
 * only read.
 */
export function guardHttpClient(http: HttpClient, { budget }: { readonly budget: CallBudget }): HttpClient {
  async function send(request: HttpRequest): Promise<HttpResponse> {
    await budget.take(currentClient() ?? '', request.signal);
    return http.request(request);
  }

  return {
    async request(request) {
      try {
        const response = await send(request);
        if (response.status < 500) return response;
      } catch (error) {
        const isWorthRetrying = error instanceof ConnectionError && error.code === 'upstream_unavailable';
        if (!isWorthRetrying || request.signal.aborted) throw error;
      }
      await pause(request.signal);
      return send({ ...request, resends: 1 });
    },
    close: () => http.close(),
  };
}

/** Half of the delay is random, so that calls that failed together are not retried together. */
async function pause(signal: AbortSignal): Promise<void> {
  const delayMs = (MAX_RETRY_DELAY_MS / 2) * (1 + Math.random());
  await delay(delayMs, undefined, { signal }).catch(() => Promise.reject(abortError(signal)));
}
