import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createManualClock, type ManualClock } from '../../../test/helpers/clock.ts';
import { codeOf, failureOf } from '../../../test/helpers/failure.ts';
import {
  createTestClient,
  FAULTS,
  type FakeUpstream,
  findRefusingOrigin,
  respondWithJson,
  respondWithStatus,
  startFakeUpstream,
} from '../../../test/helpers/fake-upstream.ts';
import { WAIT } from '../../../test/helpers/wait.ts';
import type { Verdict } from '../breaker.ts';
import { type CallBudget, createCallBudget, NotSentError } from './call-budget.ts';
import { createGate, type Gate } from './gate.ts';
import type { HttpClient, HttpResponse } from './http-client.ts';

const NEVER = new AbortController().signal;

let upstream: FakeUpstream;
let clock: ManualClock;
let http: HttpClient;
let gate: Gate;

beforeEach(async () => {
  upstream = await startFakeUpstream();
  clock = createManualClock();
  http = createTestClient(clock);
  open();
});
afterEach(async () => {
  await http.close();
  await upstream.close();
});

function open(budget: Pick<CallBudget, 'take'> = createCallBudget({ clock, callsPerSecond: 10 })): void {
  gate = createGate({ clock, http, budget, label: 'YouTube' });
}

function judge({ status }: HttpResponse): Verdict<number> {
  if (status === 403) return { kind: 'unexplained', detail: 'status 403' };
  return status === 429 ? { kind: 'refused', detail: 'status 429' } : { kind: 'answered', value: status };
}

function get(key = 'key', { signal = NEVER, origin = upstream.origin } = {}) {
  return gate.request({ method: 'GET', url: origin, timeoutMs: 5_000, maxBytes: 1_000, signal }, key, judge);
}

describe('a request', () => {
  it.each([
    ['a 500', respondWithStatus(500)],
    ['a broken connection', FAULTS.resetBeforeResponse],
  ])('is sent again, once, after %s', async (_what, failure) => {
    upstream.response((request, response) => {
      const listener = upstream.requests.length === 1 ? failure : respondWithJson({});
      listener(request, response);
    });
    expect(await get()).toBe(200);
    upstream.response(respondWithStatus(503));
    expect(await get()).toBe(503);
    expect(upstream.requests).toHaveLength(4);
  });

  it.each([400, 404, 429])('is not sent again after a %i', async (status) => {
    upstream.response(respondWithStatus(status));
    await get().catch(() => undefined);
    expect(upstream.requests).toHaveLength(1);
  });

  it('takes a turn for each attempt, and is not sent again without one', async () => {
    const take = vi.fn().mockResolvedValueOnce(undefined).mockRejectedValueOnce(new NotSentError('No turn.', 1_000));
    open({ take });
    upstream.response(respondWithStatus(500));
    expect(await get()).toBe(500);
    expect(upstream.requests).toHaveLength(1);
  });
});

it.each([
  ['cannot be reached from this server', 'unreachable'],
  ['sent an unreadable response', 'failing'],
])('YouTube that %s is named so, and is paused after five keys', async (problem, cause) => {
  const origin = cause === 'unreachable' ? await findRefusingOrigin() : upstream.origin;
  http = createTestClient(clock);
  open();
  upstream.response(FAULTS.cutGzip);
  for (let key = 0; key < 5; key += 1) {
    expect((await failureOf(get(`key ${key}`, { origin }))).message).toBe(`YouTube ${problem}.`);
  }
  expect(gate.state()).toMatchObject({ cause });
});

it('callers that go away say nothing about YouTube', async () => {
  upstream.response(FAULTS.hangBeforeHeaders);
  for (let key = 0; key < 6; key += 1) {
    const caller = new AbortController();
    const asked = codeOf(get(`key ${key}`, { signal: caller.signal }));
    await vi.waitFor(() => expect(upstream.requests).toHaveLength(key + 1), WAIT);
    caller.abort();
    expect(await asked).toBe('upstream_timeout');
  }
  expect(gate.state()).toBeUndefined();
});
