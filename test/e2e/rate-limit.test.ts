import { describe, expect, test } from 'vitest';
import { startForTest, type TestApp } from '../helpers/app.ts';

async function start(env: Record<string, string> = {}): Promise<TestApp> {
  return startForTest({ env: { RATE_LIMIT_OVERRIDES: '', ...env } });
}

describe('the rate limit', () => {
  test('admits ten requests of one client, errors and all methods included, and reports the remaining number', async () => {
    const service = await start({ CONTACT: 'ops@example.org' });
    const requests = [
      { method: 'GET', url: '/' },
      { method: 'HEAD', url: '/' },
      { method: 'OPTIONS', url: '/' },
      { method: 'DELETE', url: '/' },
      { method: 'GET', url: '/nowhere' },
      { method: 'GET', url: '/%zz' },
      { method: 'GET', url: '/api/search' },
      { method: 'GET', url: '/problems' },
      { method: 'GET', url: '/favicon.ico' },
      { method: 'GET', url: '/' },
    ];
    for (const [index, request] of requests.entries()) {
      const response = await service.request(request);
      expect(response.status).not.toBe(429);
      expect(response.headers).toMatchObject({
        'ratelimit-policy': '"default";q=10;w=30',
        ratelimit: `"default";r=${9 - index};t=30`,
        'x-ratelimit-limit': '10',
        'x-ratelimit-remaining': String(9 - index),
        'x-ratelimit-reset': '30',
      });
    }
    const refused = await service.get('/');
    expect(refused.status).toBe(429);
    expect(refused.headers['retry-after']).toBe('30');
    expect(refused.headers.ratelimit).toBe('"default";r=0;t=30');
    expect(refused.json()).toMatchObject({ code: 'rate_limited', status: 429 });
    expect(refused.json().detail).toContain('ops@example.org');
  });

  test('never sends a Retry-After that is too short', async () => {
    const service = await start({ RATE_LIMIT: '1/30' });
    await service.get('/');
    service.clock.advance(28_900);
    const early = await service.get('/');
    expect(early.headers).toMatchObject({
      'retry-after': '2',
      ratelimit: '"default";r=0;t=2',
      'x-ratelimit-reset': '2',
    });
    expect(early.json().detail).toBe('Limit: 1 requests per 30 s per client. Try again in 2 s.');
    service.clock.advance(1_000);
    const late = await service.get('/');
    expect([late.status, late.headers['retry-after'], late.headers['x-ratelimit-reset']]).toEqual([429, '1', '1']);
    service.clock.advance(1_000);
    expect((await service.get('/')).status).toBe(200);
  });

  test('comes before every other check', async () => {
    const service = await start();
    for (let sent = 0; sent < 10; sent += 1) await service.get('/');
    for (const request of [
      { method: 'DELETE', url: '/' },
      { method: 'GET', url: '/%zz' },
      { method: 'GET', url: '/x' },
    ]) {
      expect((await service.request(request)).status).toBe(429);
    }
  });

  test('counts the client behind a trusted proxy, and trusts no other address', async () => {
    const trusting = await start({ TRUST_PROXY: '127.0.0.0/8', BASE_URL: 'http://pennant.test' });
    const left = async (service: TestApp, forwarded: string) =>
      (await service.get('/', { 'x-forwarded-for': forwarded })).headers['x-ratelimit-remaining'];
    expect(await left(trusting, '203.0.113.1')).toBe('9');
    expect(await left(trusting, '203.0.113.2')).toBe('9');
    expect(await left(trusting, '198.51.100.9, 203.0.113.1')).toBe('8');
    expect(await left(trusting, '2001:db8::1')).toBe('9');
    expect(await left(trusting, '2001:db8::2')).toBe('8');
    const careful = await start();
    expect(await left(careful, '203.0.113.1')).toBe('9');
    expect(await left(careful, '203.0.113.2')).toBe('8');
  });

  test('differs for clients in RATE_LIMIT_OVERRIDES, and is absent for unlimited ones', async () => {
    const service = await start({
      TRUST_PROXY: '127.0.0.0/8',
      BASE_URL: 'http://pennant.test',
      RATE_LIMIT_OVERRIDES: '203.0.113.0/24=2/60, 203.0.113.9/32=unlimited',
    });
    const first = await service.get('/', { 'x-forwarded-for': '203.0.113.1' });
    expect(first.headers['ratelimit-policy']).toBe('"default";q=2;w=60');
    await service.get('/', { 'x-forwarded-for': '203.0.113.1' });
    expect((await service.get('/', { 'x-forwarded-for': '203.0.113.1' })).status).toBe(429);
    for (let sent = 0; sent < 15; sent += 1) {
      const response = await service.get('/', { 'x-forwarded-for': '203.0.113.9' });
      expect([response.status, response.headers.ratelimit]).toEqual([200, undefined]);
    }
  });
});
