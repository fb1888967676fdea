import { AppError } from '../../domain/errors.ts';
import type { Clock } from '../clock.ts';
import type { BoundedStats } from '../metrics.ts';
import { createRoundRobin } from '../round-robin.ts';
import { createTokenBucket } from '../token-bucket.ts';
import { type ClientKeys, currentClient } from '../work.ts';
import { ConnectionError, type HttpClient, type HttpRequest, type HttpResponse } from './http-client.ts';

interface CallBudgetOptions {
  readonly clock: Clock;
  readonly callsPerSecond: number;
}

/** Limits the calls to one upstream with a token bucket. While calls wait, networks take turns, and so do their clients. */
export interface CallBudget {
  /**
   * Waits for this call's turn.
   *
   * @param client whose request needs the call
   * @throws LocalLimitError if it has no turn within 2 s, or if too many calls wait and most of them are this client's
   */
  take(client: ClientKeys, signal: AbortSignal): Promise<void>;
  waiting(): BoundedStats;
}

/** After a quiet time, the calls of so many seconds may be made at once. */
const BURST_SECONDS = 10;
/** As many calls may wait as can be made in this time. */
const MAX_WAIT_MS = 2_000;
/** The last call of those that may wait has its turn even if the timer for it is late. */
const LATE_TIMER_MS = 100;
/** Among so many calls, the next one is found in less than a millisecond. */
const MAX_WAITING = 1_000;

export function createCallBudget({ clock, callsPerSecond }: CallBudgetOptions): CallBudget {
  const capacity = BURST_SECONDS * callsPerSecond;
  const tokens = createTokenBucket({ perSecond: callsPerSecond, capacity, nowMs: clock.monotonic() });
  const maxLength = Math.min(MAX_WAITING, Math.ceil((callsPerSecond * MAX_WAIT_MS) / 1000));
  const queue = createRoundRobin<undefined, void>({ maxWaitMs: MAX_WAIT_MS + LATE_TIMER_MS, clock, refusal });

  /** The error of a call that gets no turn. Its `retryAfterMs` ends when the call would have had one. */
  function refusal(): LocalLimitError {
    const waitMs = tokens.msUntil(queue.size + 1, clock.monotonic());
    return new LocalLimitError('The call budget for the upstream is spent.', waitMs);
  }

  async function grantCalls(): Promise<never> {
    for (;;) {
      await waitForToken();
      tokens.take(clock.monotonic());
      const { settle } = await queue.take();
      await settle(Promise.resolve());
    }
  }

  async function waitForToken(): Promise<void> {
    const waitMs = tokens.msUntil(1, clock.monotonic());
    if (waitMs > 0) await new Promise<void>((resolve) => clock.after(waitMs, resolve));
  }

  void grantCalls();
  return {
    // The calls of a burst do not wait, even if they arrive before the loop has taken the first one.
    take: (client, signal) => queue.submit(client, undefined, signal, maxLength + tokens.available(clock.monotonic())),
    waiting: () => ({ entries: queue.size, maxEntries: maxLength }),
  };
}

/**
 * An HTTP client with a call budget, in which each attempt counts for the requesting client. Retries once after a
 * connection error or a 5xx, but not after a 4xx (429 included) or a time-out. POSTs are retried too: all our calls
 * only read.
 */
export function guardHttpClient(http: HttpClient, budget: CallBudget): HttpClient {
  async function send(request: HttpRequest): Promise<HttpResponse> {
    await budget.take(currentClient(), request.signal);
    return http.request(request);
  }

  return {
    async request(request) {
      try {
        const response = await send(request);
        if (response.status < 500) return response;
      } catch (error) {
        if (!(error instanceof ConnectionError) || request.signal.aborted) throw error;
      }
      return send(request);
    },
    close: () => http.close(),
  };
}

/** A call that a local limit prevented (breaker open, budget used up). It never counts against the upstream. */
export class LocalLimitError extends AppError {
  constructor(message: string, retryAfterMs: number) {
    super('upstream_unavailable', message, { retryAfterMs });
    this.name = 'LocalLimitError';
  }
}
