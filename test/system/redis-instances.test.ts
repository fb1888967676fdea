import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { startTestApp, type TestApp } from '../helpers/app.ts';
import { createRunningClock } from '../helpers/clock.ts';
import type { InProcessResponse } from '../helpers/in-process.ts';
import { findRedisServer, type RedisServer, startRedisServer } from '../helpers/redis.ts';
import { startSlowProxy } from '../helpers/slow-proxy.ts';

const SAMPLE = 'UCPennantSample00000001A';
const UNLIMITED = { RATE_LIMIT_OVERRIDES: '0.0.0.0/0=unlimited' };

/** An instance that may find no Redis yet. */
async function startInstance(
  url: string,
  env: Record<string, string> = {},
  clock = createRunningClock(),
): Promise<TestApp> {
  const instance = await startTestApp({
    clock,
    env: { REDIS_URL: url, RATE_LIMIT_OVERRIDES: '', ...env },
  });
  onTestFinished(() => instance.close());
  return instance;
}

/** An instance that uses Redis: on a busy machine the first attempt may have been too slow. */
async function startConnected(...options: Parameters<typeof startInstance>): Promise<TestApp> {
  const instance = await startInstance(...options);
  await expect.poll(() => metric(instance, 'pennant_redis_usable')).toBe(1);
  return instance;
}

function statuses(answers: readonly InProcessResponse[]): Record<number, number> {
  const counts: Record<number, number> = {};
  for (const { status } of answers) counts[status] = (counts[status] ?? 0) + 1;
  return counts;
}

async function readiness(
  instance: TestApp,
): Promise<{ ready: boolean; conditions: { name: string; detail: string }[] }> {
  return (await instance.console('/readyz')).json();
}

async function metric(instance: TestApp, name: string): Promise<number> {
  const { text } = await instance.console('/metrics');
  const line = text.split('\n').find((each) => each.startsWith(`${name} `));
  return Number(line?.slice(name.length + 1));
}

interface Seen {
  readonly status: number;
  readonly ms: number;
}

/** Asks for a record in memory and for searches that nobody had before, until stopped; every answer with its time. */
function startLoad(instance: TestApp): { readonly seen: readonly Seen[]; stop(): Promise<void> } {
  const seen: Seen[] = [];
  let isStopped = false;
  async function ask(): Promise<void> {
    while (!isStopped) {
      const url = seen.length % 2 === 0 ? `/api/channel/${SAMPLE}` : `/api/search?q=word${seen.length}`;
      const startedAt = performance.now();
      const { status } = await instance.get(url);
      seen.push({ status, ms: performance.now() - startedAt });
      await sleep(2);
    }
  }
  const running = Promise.all(Array.from({ length: 8 }, ask));
  return {
    seen,
    async stop() {
      isStopped = true;
      await running;
    },
  };
}

describe.skipIf(!findRedisServer())('instances on one redis-server', () => {
  let server: RedisServer;
  beforeEach(async () => {
    server = await startRedisServer();
  });
  afterEach(() => server.remove());

  test('admit exactly ten of one client together', async () => {
    // The first answers of a process take their time, more than Redis is given: they are another client's.
    const proxied = { TRUST_PROXY: '127.0.0.1/32', BASE_URL: 'https://pennant.example' };
    const instances = await Promise.all([startConnected(server.url, proxied), startConnected(server.url, proxied)]);
    for (const instance of [...instances, ...instances]) {
      await instance.get(`/api/channel/${SAMPLE}`, { 'x-forwarded-for': '192.0.2.1' });
    }
    const answers = await Promise.all(
      Array.from({ length: 100 }, (_, index) => (instances[index % 2] as TestApp).get(`/api/channel/${SAMPLE}`)),
    );
    expect(statuses(answers)).toEqual({ 200: 10, 429: 90 });
    const left = answers.filter(({ status }) => status === 200).map(({ headers }) => headers['x-ratelimit-remaining']);
    expect(left.sort()).toEqual(['0', '1', '2', '3', '4', '5', '6', '7', '8', '9']);
  });

  test('give a client no second budget when Redis has lost its logs', async () => {
    const instance = await startConnected(server.url);
    for (let sent = 0; sent < 10; sent += 1) expect((await instance.get('/problems')).status).toBe(200);
    await server.command('FLUSHALL');
    expect((await instance.get('/problems')).status).toBe(429);
  });

  test('admit a client that has waited for exactly as long as it was told after an outage', async () => {
    await server.stop();
    const clock = createRunningClock();
    const instance = await startInstance(server.url, {}, clock);
    for (let sent = 0; sent < 10; sent += 1) expect((await instance.get('/problems')).status).toBe(200);
    await server.start();
    await expect.poll(() => metric(instance, 'pennant_redis_usable')).toBe(1);
    const refused = await instance.get('/problems');
    expect(refused.status).toBe(429);
    for (let sent = 0; sent < 20; sent += 1) expect((await instance.get('/problems')).status).toBe(429);
    expect(await server.command('KEYS', 'pennant:limit*')).toEqual([]);
    clock.advance(Number(refused.headers['retry-after']) * 1_000);
    expect((await instance.get('/problems')).status).toBe(200);
  });

  test('answer from what another one has loaded: records, handles, searches, pictures, and that there is nothing', async () => {
    const first = await startConnected(server.url, UNLIMITED);
    const second = await startConnected(server.url, UNLIMITED);
    for (const path of [
      `/api/channel/${SAMPLE}`,
      '/api/channel/copperloop?type=handle',
      '/api/search?q=saltmarrow',
      `/${SAMPLE}/mobile.webp`,
      '/api/channel/UCnosuchchannel000000AAA',
    ]) {
      const loaded = await first.get(path);
      expect(loaded.headers['cache-status'] ?? '', path).not.toMatch(/^pennant; hit/);
      await sleep(50);
      const found = await second.get(path);
      expect(found.headers['cache-status'], path).toMatch(/^pennant; hit/);
      expect([found.status, found.headers.etag], path).toEqual([loaded.status, loaded.headers.etag]);
      if (found.status === 200) expect(found.bytes.equals(loaded.bytes), path).toBe(true);
    }
  });

  test('find a record fresh that came from an instance whose clock is ahead', async () => {
    const behind = createRunningClock();
    behind.jumpWallClock(-2_000);
    const first = await startConnected(server.url, UNLIMITED);
    const second = await startConnected(server.url, UNLIMITED, behind);
    await first.get(`/api/channel/${SAMPLE}`);
    await sleep(50);
    const found = await second.get(`/api/channel/${SAMPLE}`);
    expect(found.headers['cache-status']).toMatch(/^pennant; hit; ttl=3[56]\d\d/);
  });

  test('keep pictures of a client’s own size to themselves', async () => {
    const instance = await startConnected(server.url, UNLIMITED);
    await instance.get(`/${SAMPLE}/mobile.webp`);
    await sleep(50);
    const before = await server.command('KEYS', 'pennant:bytes2:picture*');
    expect(before).toHaveLength(1);
    await instance.get(`/${SAMPLE}/mobile.webp?width=777`);
    await sleep(50);
    expect(await server.command('KEYS', 'pennant:bytes2:picture*')).toEqual(before);
  });

  test('stay on it when keys hold another type or values that nobody here wrote', async () => {
    const record = `pennant:channel1:${SAMPLE}`;
    const limit = 'pennant:limit1:10/30000:127.0.0.1';
    await server.command('RPUSH', record, 'item');
    await server.command('SET', limit, 'text');
    await server.command('SET', 'pennant:search2:saltmarrow', `${Date.now()} {"value":null,"freshMs":1e308}`);
    await server.command(
      'SET',
      'pennant:name1:handle:copperloop',
      `${Date.now()} {"value":"undefined","freshMs":60000}`,
    );
    const instance = await startConnected(server.url);
    for (const path of [`/api/channel/${SAMPLE}`, '/api/search?q=saltmarrow', '/api/channel/copperloop?type=handle']) {
      const { status, headers } = await instance.get(path);
      expect([path, status, headers['cache-status']]).toEqual([
        path,
        200,
        expect.stringMatching(/fwd=uri-miss; stored/),
      ]);
    }
    const refused = await Promise.all(
      ['channel', 'limit', 'search', 'name'].map((kind) =>
        metric(instance, `pennant_stored_values_refused_total{kind="${kind}"}`),
      ),
    );
    expect(refused).toEqual([1, 1, 1, 1]);
    expect([await metric(instance, 'pennant_redis_usable'), (await readiness(instance)).conditions]).toEqual([1, []]);
    await expect.poll(() => server.command('TYPE', record)).toBe('string');
  });

  test.each([
    ['frozen', (at: RedisServer) => at.freeze(), (at: RedisServer) => at.thaw()],
    ['gone', (at: RedisServer) => at.stop(), (at: RedisServer) => at.start()],
    [
      'full',
      (at: RedisServer) => at.command('CONFIG', 'SET', 'maxmemory', '1kb'),
      (at: RedisServer) => at.command('CONFIG', 'SET', 'maxmemory', '0'),
    ],
    [
      'read-only',
      (at: RedisServer) => at.command('REPLICAOF', '127.0.0.1', '1'),
      (at: RedisServer) => at.command('REPLICAOF', 'NO', 'ONE'),
    ],
  ])('answer under load while it is %s, and use it again afterwards', async (_state, breakIt, mendIt) => {
    const instance = await startConnected(server.url, { RATE_LIMIT: '100000/60' });
    // The first answers of a process take their time anyway.
    for (let sent = 0; sent < 50; sent += 1) await instance.get(`/api/channel/${SAMPLE}`);
    const load = startLoad(instance);
    await sleep(500);
    const slowestBeforeMs = Math.max(...load.seen.map(({ ms }) => ms));
    const pauses = monitorEventLoopDelay({ resolution: 5 });
    pauses.enable();
    await breakIt(server);
    await expect.poll(async () => (await readiness(instance)).conditions.map(({ name }) => name)).toEqual(['redis']);
    expect((await readiness(instance)).ready).toBe(true);
    expect(await metric(instance, 'pennant_redis_usable')).toBe(0);
    await sleep(500);
    await mendIt(server);
    await expect.poll(() => metric(instance, 'pennant_redis_usable')).toBe(1);
    await sleep(200);
    await load.stop();
    expect(new Set(load.seen.map(({ status }) => status))).toEqual(new Set([200]));
    // Others use this machine too: while this process gets no processor, nothing is answered with or without Redis.
    const longestPauseMs = pauses.max / 1e6;
    expect(Math.max(...load.seen.map(({ ms }) => ms))).toBeLessThan(slowestBeforeMs + 300 + longestPauseMs);
    expect(await metric(instance, 'pennant_limiter_decided_alone_total')).toBeGreaterThan(0);
    await expect.poll(async () => (await readiness(instance)).conditions).toEqual([]);
  });

  test('answer in time through a slow network, and without Redis where that is too slow', async () => {
    const proxy = await startSlowProxy(server.port);
    onTestFinished(() => proxy.close());
    const instance = await startConnected(`redis://127.0.0.1:${proxy.port}`, UNLIMITED);
    async function slowestMs(paths: readonly string[]): Promise<number> {
      let slowest = 0;
      for (const path of paths) {
        const startedAt = performance.now();
        expect((await instance.get(path)).status).toBe(200);
        slowest = Math.max(slowest, performance.now() - startedAt);
      }
      return slowest;
    }
    const records = [1, 2, 3, 4].map((number) => `/api/channel/UCPennantSample0000000${number}A`);
    const pictures = [1, 3, 4].map((number) => `/UCPennantSample0000000${number}A/avatar?width=64`);
    const usualMs = await slowestMs(['/UCPennantSample00000008A/avatar?width=64', `/api/channel/${SAMPLE}`]);
    proxy.setDelayMs(25);
    expect(await slowestMs([...records, ...pictures])).toBeLessThan(usualMs + 300);
    proxy.setDelayMs(150);
    const searches = [1, 2, 3, 4].map((number) => `/api/search?q=other${number}`);
    expect(await slowestMs(searches)).toBeLessThan(usualMs + 300);
    expect(await metric(instance, 'pennant_redis_usable')).toBe(0);
    proxy.setDelayMs(0);
    await expect.poll(() => metric(instance, 'pennant_redis_usable')).toBe(1);
  });

  test('hold each client to ten while it is frozen, before and after included', async () => {
    const instance = await startConnected(server.url);
    const before = await Promise.all(Array.from({ length: 4 }, () => instance.get('/')));
    server.freeze();
    const during = await Promise.all(Array.from({ length: 30 }, () => instance.get('/')));
    server.thaw();
    await expect.poll(() => metric(instance, 'pennant_redis_usable')).toBe(1);
    const after = await Promise.all(Array.from({ length: 30 }, () => instance.get('/')));
    expect([statuses(before), statuses(during)]).toEqual([{ 200: 4 }, { 200: 6, 429: 24 }]);
    expect(statuses(after)).toEqual({ 429: 30 });
  });

  test('start without it and take it into use when it comes', async () => {
    await server.stop();
    const instance = await startInstance(server.url);
    const answers = await Promise.all(Array.from({ length: 15 }, () => instance.get(`/api/channel/${SAMPLE}`)));
    expect(statuses(answers)).toEqual({ 200: 10, 429: 5 });
    expect(await readiness(instance)).toMatchObject({
      ready: true,
      conditions: [{ name: 'redis', detail: expect.stringContaining('ECONNREFUSED') }],
    });
    await server.start();
    await expect.poll(() => metric(instance, 'pennant_redis_usable')).toBe(1);
  });

  test('still have records and pictures after a restart', async () => {
    const first = await startConnected(server.url, UNLIMITED);
    const before = await first.get(`/${SAMPLE}/avatar`);
    await sleep(50);
    const second = await startConnected(server.url, UNLIMITED);
    const after = await second.get(`/${SAMPLE}/avatar`);
    expect(after.headers['cache-status']).toMatch(/^pennant; hit/);
    expect(after.headers['last-modified']).toBe(before.headers['last-modified']);
  });
});
