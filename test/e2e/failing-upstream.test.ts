import type { RequestListener } from 'node:http';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { ErrorCode } from '../../src/domain/errors.ts';
import { createCallBudget, guardHttpClient } from '../../src/lib/http/call-budget.ts';
import { createPause } from '../../src/lib/http/pause.ts';
import { createFailover, type Failover } from '../../src/sources/failover.ts';
import type { ChannelSource } from '../../src/sources/source.ts';
import { createManualClock, type ManualClock } from '../helpers/clock.ts';
import { createTestDataApiSource, respondAsDataApi, respondWithDataApiError } from '../helpers/data-api.ts';
import { numberedChannelId } from '../helpers/fake-source.ts';
import {
  createUpstreamClient,
  FAULTS,
  type FakeUpstream,
  redirectTo,
  respondWithBytes,
  respondWithJson,
  respondWithStatus,
  startFakeUpstream,
} from '../helpers/fake-upstream.ts';
import { WAIT } from '../helpers/wait.ts';

const ID = 'UCPennantSample00000001A';
const healthy = respondAsDataApi([{ id: ID, snippet: { title: 'A sample' } }]);

/** What an upstream does, the result, and the number of calls. */
type Failure = [name: string, listener: RequestListener, code: ErrorCode, asked: { calls: number }];

let upstream: FakeUpstream;
let source: ChannelSource;
let failover: Failover;
let clock: ManualClock;

beforeEach(async () => {
  upstream = await startFakeUpstream(healthy);
  clock = createManualClock();
  const http = guardHttpClient(
    createUpstreamClient(upstream.origin, clock),
    createCallBudget({ clock, callsPerSecond: 10, burst: 100 }),
  );
  const pause = createPause({ clock, label: 'YouTube Data API' });
  source = createTestDataApiSource(upstream.origin, { http, clock, pauses: { units: pause, searches: pause } });
  failover = createFailover({ sources: [source], pauseOf: () => pause, clock });
});
afterEach(async () => {
  await source.close();
  await upstream.close();
});

describe('an upstream behind all protections', () => {
  const BROKEN_RESPONSES = ['resetMidBody', 'closeMidBody', 'endlessBody', 'garbage', 'gzipBomb', 'cutGzip'] as const;

  it.each<Failure>([
    ['breaks the connection', FAULTS.resetBeforeResponse, 'upstream_unavailable', { calls: 2 }],
    ['responses 500', respondWithStatus(500), 'upstream_unavailable', { calls: 2 }],
    ['responses 429', respondWithStatus(429), 'upstream_unavailable', { calls: 1 }],
    ['responses 403', respondWithStatus(403), 'upstream_unavailable', { calls: 1 }],
    ['redirects to a "sorry" page', redirectTo('https://www.google.com/sorry'), 'upstream_unavailable', { calls: 1 }],
    ['has its quota exceeded', respondWithDataApiError(403, 'quotaExceeded'), 'upstream_unavailable', { calls: 1 }],
    [
      'responses HTML',
      respondWithBytes(Buffer.from('<!doctype html><title>Before you continue</title>')),
      'upstream_unavailable',
      { calls: 1 },
    ],
    ['responses truncated JSON', respondWithBytes(Buffer.from('{"kind":')), 'upstream_invalid', { calls: 1 }],
    ['returns an empty object', respondWithJson({}), 'upstream_invalid', { calls: 1 }],
    [
      'says there is no such channel',
      respondWithJson({ kind: 'youtube#channelListResponse' }),
      'channel_not_found',
      { calls: 1 },
    ],
    ...BROKEN_RESPONSES.map(
      (fault): Failure => [`responds with ${fault}`, FAULTS[fault], 'upstream_invalid', { calls: 1 }],
    ),
  ])('that %s is reported at once', async (_name, listener, code, { calls }) => {
    upstream.response(listener);
    // The clock does not move, so no deadline ends it.
    await expect(failover.getChannel(ID)).rejects.toMatchObject({ code });
    expect(upstream.requests).toHaveLength(calls);
  });

  it('that hangs is abandoned after five seconds, without a retry', async () => {
    upstream.response(FAULTS.hangBeforeHeaders);
    const loading = failover.getChannel(ID);
    await vi.waitFor(() => expect(upstream.requests).toHaveLength(1), WAIT);
    clock.advance(4_999);
    await expect(Promise.race([loading, 'waits'])).resolves.toBe('waits');
    clock.advance(1);
    await expect(loading).rejects.toMatchObject({ code: 'upstream_timeout' });
    expect(upstream.requests).toHaveLength(1);
  });

  it.each([
    ['refuses this address', 429, 1],
    ['keeps failing', 501, 10],
  ])('that %s is paused', async (_name, status, requests) => {
    upstream.response(respondWithStatus(status));
    for (let call = 0; call < 25; call += 1) {
      const loading = failover.getChannel(numberedChannelId(call));
      await expect(loading).rejects.toMatchObject({ code: 'upstream_unavailable' });
    }
    // A failed call is made twice.
    expect(upstream.requests).toHaveLength(requests);
  });

  it('that works again after one failure causes no error', async () => {
    upstream.response((request, response) => {
      const listener = upstream.requests.length === 1 ? FAULTS.resetBeforeResponse : healthy;
      listener(request, response);
    });
    expect((await failover.getChannel(ID)).channel.title).toBe('A sample');
  });
});
