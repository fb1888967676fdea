import { setTimeout as delay } from 'node:timers/promises';
import { abortError } from '../deadline.ts';
import { currentClient } from '../request-context.ts';
import type { CallBudget } from './call-budget.ts';
import { ConnectionError, type HttpClient, type HttpRequest, type HttpResponse } from './client.ts';

export interface GuardedHttpClient extends HttpClient {
  /** Calls that went out, second tries among them. */
  stats(): { readonly calls: number; readonly retries: number };
}

/** Long enough for a restarting upstream's next instance, short enough not to be noticed. */
const MAX_RETRY_DELAY_MS = 200;

/**
 * An HTTP client that keeps to a budget, each attempt counted for the client whose request needs it, and tries once more
 * after a connection error or a 5xx. Never after a 4xx, 429 among them, or a time-out. POSTs are tried again too: all our
 * calls only read.
 */
export function guardHttpClient(http: HttpClient, { budget }: { readonly budget: CallBudget }): GuardedHttpClient {
  let calls = 0;
  let retries = 0;

  async function send(request: HttpRequest): Promise<HttpResponse> {
    await budget.take(currentClient() ?? '', request.signal);
    calls += 1;
    return http.request(request);
  }

  /** `undefined` for what is worth a second try. */
  async function sendFirst(request: HttpRequest): Promise<HttpResponse | undefined> {
    try {
      const response = await send(request);
      return response.status >= 500 ? undefined : response;
    } catch (error) {
      if (error instanceof ConnectionError && !request.signal.aborted) return undefined;
      throw error;
    }
  }

  return {
    async request(request) {
      const response = await sendFirst(request);
      if (response !== undefined) return response;
      await pause(request.signal);
      retries += 1;
      return send({ ...request, resends: 1 });
    },
    close: () => http.close(),
    stats: () => ({ calls, retries }),
  };
}

/** Half of it is random, so that calls that failed together do not come again together. */
async function pause(signal: AbortSignal): Promise<void> {
  try {
    await delay((MAX_RETRY_DELAY_MS / 2) * (1 + Math.random()), undefined, { signal });
  } catch (error) {
    throw signal.aborted ? abortError(signal) : error;
  }
}
