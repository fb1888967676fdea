import { ExponentialBackoff, halfJitterGenerator, handleWhen, retry } from 'cockatiel';
import { ConnectionError, type HttpClient, type HttpResponse } from '../http-client.ts';
import type { CallBudget } from './call-budget.ts';

export interface GuardedHttpClient extends HttpClient {
  /** Calls that went out, second tries among them. */
  stats(): { readonly calls: number; readonly retries: number };
}

/** Long enough for a restarting upstream's next instance, short enough not to be noticed. */
const RETRY_DELAY_MS = 200;

/**
 * An HTTP client that keeps to a budget, each attempt counted, and tries once more after a connection error or a 5xx.
 * Never after a 4xx, 429 among them, or a time-out. POSTs are tried again too: all our calls only read.
 */
export function guardHttpClient(http: HttpClient, { budget }: { readonly budget: CallBudget }): GuardedHttpClient {
  let calls = 0;
  let retries = 0;
  const policy = retry(
    handleWhen((error) => error instanceof ConnectionError).orWhenResult(
      (response) => (response as HttpResponse).status >= 500,
    ),
    {
      maxAttempts: 1,
      backoff: new ExponentialBackoff({
        generator: halfJitterGenerator,
        initialDelay: RETRY_DELAY_MS,
        maxDelay: RETRY_DELAY_MS,
      }),
    },
  );
  policy.onRetry(() => {
    retries += 1;
  });

  return {
    request(request) {
      return policy.execute(async ({ attempt }) => {
        await budget.take(request.signal);
        calls += 1;
        return http.request({ ...request, resends: attempt });
      }, request.signal);
    },
    close: () => http.close(),
    stats: () => ({ calls, retries }),
  };
}
