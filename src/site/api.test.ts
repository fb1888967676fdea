import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { createApi } from './api.ts';
import { type Budget, createBudget } from './budget.ts';

const URL = 'https://img.pennant.example/api/channel/x';
const LIMIT = { 'ratelimit-policy': '"default";q=10;w=30', ratelimit: '"default";r=9;t=30' };

let budget: Budget;
let sent: number;
let respond: () => Promise<Response>;

beforeEach(() => {
  budget = createBudget(() => 0);
  sent = 0;
  vi.stubGlobal('navigator', { onLine: true });
  vi.stubGlobal('fetch', () => {
    sent += 1;
    return respond();
  });
});
afterEach(() => void vi.unstubAllGlobals());

const api = () => createApi({ budget, onBudgetChange: () => undefined, routeOf: (url) => ({ url, headers: {} }) });

describe('a request of the playground', () => {
  test('returns the document, counts against the budget and is not sent again while it is fresh', async () => {
    respond = async () => Response.json({ title: 'A' }, { headers: { ...LIMIT, 'cache-control': 'max-age=60' } });
    const own = api();
    expect([await own.getJson(URL), await own.getJson(URL), sent]).toEqual([{ title: 'A' }, { title: 'A' }, 1]);
    expect(budget.state()?.remaining).toBe(9);
  });

  test('fails with the fields of the error, and Retry-After in milliseconds', async () => {
    const error = { code: 'rate_limited', title: 'Too many requests', detail: 'Too many.', requestId: 'r' };
    respond = async () => Response.json(error, { status: 429, headers: { 'retry-after': '7' } });
    await expect(api().getJson(URL)).rejects.toMatchObject({
      status: 429,
      code: 'rate_limited',
      title: 'Too many requests',
      message: 'Too many.',
      requestId: 'r',
      retryAfterMs: 7_000,
      canRetry: true,
    });
  });

  test.each([
    [404, false],
    [400, false],
    [408, true],
    [503, true],
  ])('may be repeated after status %d: %s', async (status, canRetry) => {
    respond = async () => Response.json({ code: 'x', detail: 'x' }, { status });
    await expect(api().get(URL)).rejects.toMatchObject({ status, canRetry });
  });

  test('reports a server that is no instance, and one that does not respond', async () => {
    respond = async () => new Response('<html>', { status: 502 });
    await expect(api().get(URL)).rejects.toMatchObject({ status: 502, code: 'unreadable' });
    respond = async () => new Response('<html>');
    await expect(api().getJson(URL)).rejects.toMatchObject({ code: 'unreadable' });
    respond = () => Promise.reject(new TypeError('fetch failed'));
    await expect(api().get(URL)).rejects.toMatchObject({
      status: 0,
      code: 'unreachable',
      message: 'img.pennant.example cannot be reached from this browser.',
      canRetry: true,
    });
  });

  test('tells a browser without a connection from an instance that does not respond', async () => {
    vi.stubGlobal('navigator', { onLine: false });
    respond = () => Promise.reject(new TypeError('fetch failed'));
    await expect(api().get(URL)).rejects.toMatchObject({ status: 0, code: 'offline', canRetry: true });
    const code = 'unreachable';
    await expect(api().get('http://localhost:8080/')).rejects.toMatchObject({ code });
  });

  test('shows no settings of the operator', async () => {
    const detail = 'No source responds. Start the service with SOURCES=catalog, or ask again. Asked at "a=b".';
    respond = async () => Response.json({ code: 'upstream_unavailable', detail }, { status: 503 });
    await expect(api().get(URL)).rejects.toMatchObject({ message: 'No source responds. Asked at "a=b".' });
  });
});
