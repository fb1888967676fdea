import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createManualClock } from '../../../test/helpers/clock.ts';
import {
  createUpstreamClient,
  FAULTS,
  type FakeUpstream,
  respondWithJson,
  respondWithStatus,
  startFakeUpstream,
} from '../../../test/helpers/fake-upstream.ts';
import { errorCodeOf } from '../../domain/errors.ts';
import { createCallBudget, guardHttpClient } from './call-budget.ts';
import type { HttpClient } from './http-client.ts';

let upstream: FakeUpstream;
let http: HttpClient;

beforeEach(async () => {
  upstream = await startFakeUpstream();
  http = createGuarded();
});
afterEach(async () => {
  await http.close();
  await upstream.close();
});

const clock = createManualClock();

function createGuarded(callsPerSecond = 10): HttpClient {
  return guardHttpClient(createUpstreamClient(upstream.origin), createCallBudget({ clock, callsPerSecond }));
}

function get(timeoutMs = 5_000, signal = new AbortController().signal) {
  return http.request({ method: 'GET', url: upstream.origin, timeoutMs, maxBytes: 1_000, signal });
}

describe('a guarded HTTP client', () => {
  it.each([500, 502, 503])('retries once after a %i', async (status) => {
    upstream.response((request, response) => {
      const listener = upstream.requests.length === 1 ? respondWithStatus(status) : respondWithJson({});
      listener(request, response);
    });
    expect((await get()).status).toBe(200);
    expect(upstream.requests).toHaveLength(2);
  });

  it('retries once after a broken connection', async () => {
    upstream.response((request, response) => {
      const listener = upstream.requests.length === 1 ? FAULTS.resetBeforeResponse : respondWithJson({});
      listener(request, response);
    });
    expect((await get()).status).toBe(200);
  });

  it.each([400, 403, 404, 429])('does not retry after a %i', async (status) => {
    upstream.response(respondWithStatus(status));
    expect((await get()).status).toBe(status);
    expect(upstream.requests).toHaveLength(1);
  });

  it('does not retry after a timeout', async () => {
    upstream.response(FAULTS.hangBeforeHeaders);
    expect(await get(100).catch(errorCodeOf)).toBe('upstream_timeout');
    expect(upstream.requests).toHaveLength(1);
  });

  it('does not retry if the call was aborted', async () => {
    const caller = new AbortController();
    upstream.response((_request, response) => {
      response.writeHead(500).end(() => caller.abort());
    });
    await get(5_000, caller.signal).catch(errorCodeOf);
    expect(upstream.requests).toHaveLength(1);
  });

  it('counts each attempt against the budget, and sends none if it is used up', async () => {
    // One call in ten seconds.
    http = createGuarded(0.1);
    upstream.response(respondWithStatus(500));
    const failed = get().catch(errorCodeOf);
    await vi.waitFor(() => expect(upstream.requests).toHaveLength(1));
    await clock.passTimer(2_100);
    expect(await failed).toBe('upstream_unavailable');
    expect(upstream.requests).toHaveLength(1);
  });
});
