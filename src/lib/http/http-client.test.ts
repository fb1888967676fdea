import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createManualClock, type ManualClock } from '../../../test/helpers/clock.ts';
import { startConnectProxy } from '../../../test/helpers/connect-proxy.ts';
import { failureOf } from '../../../test/helpers/failure.ts';
import {
  EVERY_FAULT,
  FAULTS,
  type FakeUpstream,
  redirectTo,
  respondWithBytes,
  respondWithJson,
  startFakeUpstream,
} from '../../../test/helpers/fake-upstream.ts';
import { WAIT } from '../../../test/helpers/wait.ts';
import { createHttpClient, type HttpClient, type HttpRequest, readRetryAfterMs } from './http-client.ts';

const MAX_BYTES = 1024 * 1024;

let upstream: FakeUpstream;
let client: HttpClient;
let clock: ManualClock;

beforeEach(async () => {
  upstream = await startFakeUpstream();
  clock = createManualClock();
  client = createHttpClient({ userAgent: 'pennant-test', clock });
});
afterEach(async () => {
  await client.close();
  await upstream.close();
});

function get(path: string, options: Partial<HttpRequest> = {}) {
  return client.request({
    method: 'GET',
    url: `${upstream.origin}${path}`,
    timeoutMs: 5_000,
    maxBytes: MAX_BYTES,
    signal: new AbortController().signal,
    ...options,
  });
}

describe('a response', () => {
  it('is a value of any status, with its headers and bytes', async () => {
    upstream.response(respondWithJson({ error: 'gone' }, 410));
    const response = await get('/x?y=1');
    expect(response.status).toBe(410);
    expect(response.headers['content-type']).toBe('application/json');
    expect(JSON.parse(response.body.toString())).toEqual({ error: 'gone' });
  });

  it('is requested with the user agent, and with the body of a POST', async () => {
    upstream.response(async (request, response) => {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk);
      response.end(`${request.method} ${request.headers['user-agent']} ${Buffer.concat(chunks)}`);
    });
    const response = await get('/', { method: 'POST', body: 'hello' });
    expect(response.body.toString()).toBe('POST pennant-test hello');
  });

  it.each(['gzip', 'GZIP'])('is decompressed from %s', async (encoding) => {
    upstream.response(respondWithBytes(gzipSync('plain text'), { 'content-encoding': encoding }));
    expect((await get('/')).body.toString()).toBe('plain text');
  });

  it('may have exactly the maximum length', async () => {
    upstream.response(respondWithBytes(Buffer.alloc(100)));
    expect((await get('/', { maxBytes: 100 })).body).toHaveLength(100);
    expect((await failureOf(get('/', { maxBytes: 99 }))).code).toBe('upstream_invalid');
  });
});

describe('a failing upstream', () => {
  /** Unusable but complete, so their connections may be used for the next request. */
  const WHOLE_RESPONSES = ['gzipBomb', 'cutGzip', 'falseGzip', 'unknownEncoding'];
  it.each(EVERY_FAULT)('that does %s is %s, and its socket is closed', async (fault, code) => {
    upstream.response(FAULTS[fault]);
    const failure = failureOf(get('/', { timeoutMs: 150 }));
    if (code === 'upstream_timeout') {
      await vi.waitFor(() => expect(upstream.requests).toHaveLength(1), WAIT);
      await clock.passTimer(150);
    }
    expect((await failure).code).toBe(code);
    if (!WHOLE_RESPONSES.includes(fault)) await vi.waitFor(() => expect(upstream.openSockets()).toBe(0), WAIT);
  });
});

describe('an aborted request', () => {
  it('ends at once and closes its socket', async () => {
    upstream.response(FAULTS.hangBeforeHeaders);
    const controller = new AbortController();
    const response = failureOf(get('/', { signal: controller.signal }));
    await vi.waitFor(() => expect(upstream.requests).toHaveLength(1), WAIT);
    controller.abort();
    expect((await response).code).toBe('upstream_timeout');
    await vi.waitFor(() => expect(upstream.openSockets()).toBe(0), WAIT);
  });
});

it('a proxy that never answers is left when the time of the request is over', async () => {
  const proxy = await startConnectProxy(() => undefined);
  const proxyEnv = { HTTPS_PROXY: `http://127.0.0.1:${proxy.port}`, NO_PROXY: '' };
  client = createHttpClient({ userAgent: 'pennant-test', clock, proxyEnv });
  const response = failureOf(get('/', { url: 'https://www.youtube.com/', timeoutMs: 200 }));
  await vi.waitFor(() => expect(proxy.openSockets()).toBe(1), WAIT);
  clock.advance(200);
  expect((await response).code).toBe('upstream_timeout');
  await vi.waitFor(() => expect(proxy.openSockets()).toBe(0), WAIT);
});

describe('redirects', () => {
  const mayFollow = ({ origin }: URL) => origin === upstream.origin;

  it('are returned unless they may be followed', async () => {
    upstream.response(redirectTo('/next'));
    expect((await get('/')).status).toBe(302);
    expect(upstream.requests).toEqual(['/']);
  });

  it('are followed where they may be', async () => {
    upstream.response((request, response) => {
      const listener = request.url === '/next' ? respondWithJson({ here: true }) : redirectTo('/next');
      listener(request, response);
    });
    expect((await get('/', { mayFollow })).status).toBe(200);
    expect(upstream.requests).toEqual(['/', '/next']);
  });

  it('end after three', async () => {
    upstream.response(redirectTo('/again'));
    expect((await failureOf(get('/', { mayFollow }))).code).toBe('upstream_invalid');
    expect(upstream.requests).toHaveLength(4);
  });

  it.each(['http://127.0.0.1:1/', 'https://127.0.0.1/', '//127.0.0.1/', 'http://user@127.0.0.1:1/', 'http://'])(
    'elsewhere, such as to consent and "sorry" pages, are returned: %s',
    async (location) => {
      upstream.response(redirectTo(location));
      expect((await get('/', { mayFollow })).status).toBe(302);
      expect(upstream.requests).toHaveLength(1);
    },
  );
});

describe('Retry-After', () => {
  const HOUR_MS = 3_600_000;

  it.each([
    ['120', 120_000],
    ['3601', HOUR_MS],
    ['9'.repeat(400), HOUR_MS],
  ])('of %s is converted to milliseconds', (value, ms) => {
    expect(readRetryAfterMs({ 'retry-after': value })).toBe(ms);
  });

  it.each(['', '0', '-1', '1.5', 'soon', '120, 90', 'Sun, 22 Nov 2026 10:02:00 GMT'])('of %j is ignored', (value) => {
    expect(readRetryAfterMs({ 'retry-after': value })).toBeUndefined();
  });
});
