import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { startService } from '../helpers/process.ts';
import { findRedisServer, type RedisServer, startRedisServer } from '../helpers/redis.ts';
import {
  type Instance,
  type RedisClock,
  reconnect,
  startConnected,
  startInstance,
  statuses,
} from '../helpers/redis-instance.ts';
import { createTemporaryDirectory } from '../helpers/temporary-directory.ts';

const SAMPLE = 'UCPennantSample00000001A';
const STEADY_MS = 3_000;

/** The log lines about Redis from info on: level and message. */
function reportedLines({ lines }: Instance): (readonly [number, string])[] {
  return lines
    .filter(({ part, level }) => part === 'redis' && level >= 30)
    .map(({ level, msg }) => [level, msg] as const);
}

describe.skipIf(!findRedisServer())('instances whose Redis fails', () => {
  let server: RedisServer;
  beforeEach(async () => {
    server = await startRedisServer();
  });
  afterEach(() => server.remove());

  test('admit a client after exactly the Retry-After time that it got after an outage', async () => {
    await server.stop();
    const instance = await startInstance(server.url);
    for (let sent = 0; sent < 10; sent += 1) expect((await instance.get('/problems')).status).toBe(200);
    await server.start();
    await reconnect(instance);
    const refused = await instance.get('/problems');
    expect(refused.status).toBe(429);
    for (let sent = 0; sent < 20; sent += 1) expect((await instance.get('/problems')).status).toBe(429);
    expect(await server.command('KEYS', 'pennant:limit*')).toEqual([]);
    instance.clock.advance(Number(refused.headers['retry-after']) * 1_000);
    expect((await instance.get('/problems')).status).toBe(200);
  });

  test.each<[string, (at: RedisServer, clock: RedisClock) => unknown, (at: RedisServer, clock: RedisClock) => unknown]>(
    [
      [
        'frozen',
        (at, clock) => {
          at.freeze();
          clock.letCommandsTimeOut();
        },
        (at, clock) => {
          at.thaw();
          clock.giveCommandsTime();
        },
      ],
      ['gone', (at) => at.stop(), (at) => at.start()],
      [
        'full',
        (at) => at.command('CONFIG', 'SET', 'maxmemory', '1kb'),
        (at) => at.command('CONFIG', 'SET', 'maxmemory', '0'),
      ],
      ['read-only', (at) => at.command('REPLICAOF', '127.0.0.1', '1'), (at) => at.command('REPLICAOF', 'NO', 'ONE')],
    ],
  )('respond while it is %s, and use it again afterwards', async (_state, breakIt, mendIt) => {
    const instance = await startConnected(server.url, { RATE_LIMIT: '100000/3600' });
    let searches = 0;
    /** Requests a record that is in memory and new searches at the same time. */
    const ask = () =>
      Promise.all(
        Array.from({ length: 16 }, (_, at) => {
          searches += 1;
          return instance.get(at % 2 === 0 ? `/api/channel/${SAMPLE}` : `/api/search?q=word${searches}`);
        }),
      );
    expect(statuses(await ask())).toEqual({ 200: 16 });
    const underWay = ask();
    await breakIt(server, instance.clock);
    expect(statuses(await underWay)).toEqual({ 200: 16 });
    expect(statuses(await ask())).toEqual({ 200: 16 });
    await expect.poll(() => instance.metric('pennant_redis_usable')).toBe(0);
    expect(await instance.readiness()).toMatchObject({ ready: true, conditions: [{ name: 'redis' }] });
    expect(await instance.metric('pennant_limiter_decided_alone_total')).toBeGreaterThan(0);
    // From then on, no request waits for Redis.
    const roundsBefore = instance.clock.rounds();
    expect(statuses(await ask())).toEqual({ 200: 16 });
    expect(instance.clock.rounds()).toBe(roundsBefore);

    await mendIt(server, instance.clock);
    await reconnect(instance);
    expect(statuses(await ask())).toEqual({ 200: 16 });
    expect(instance.clock.rounds()).toBeGreaterThan(roundsBefore);
    instance.clock.advance(STEADY_MS);
    expect((await instance.readiness()).conditions).toEqual([]);
    expect(reportedLines(instance)).toEqual([
      [40, expect.stringMatching(/^redis: not used \(.+\)$/)],
      [30, 'redis works again'],
    ]);
  });

  test('start with a wrong password and never log it', async () => {
    await server.stop();
    await server.start(['--requirepass', 'another']);
    const instance = await startInstance(`redis://:topsecret@127.0.0.1:${server.port}`);
    expect((await instance.get(`/api/channel/${SAMPLE}`)).status).toBe(200);
    expect(reportedLines(instance)).toEqual([[40, expect.stringContaining('WRONGPASS')]]);
    expect(JSON.stringify(instance.lines)).not.toContain('topsecret');
  });

  test('stop while it is frozen, as separate processes', async () => {
    const service = await startService({
      directory: await createTemporaryDirectory(),
      env: { REDIS_URL: server.url },
    });
    onTestFinished(() => void service.child.kill('SIGKILL'));
    server.freeze();
    expect((await fetch(`${service.base}/${SAMPLE}/avatar`)).status).toBe(200);
    service.child.kill('SIGTERM');
    expect(await service.ended).toBe(0);
  });

  test.each([
    ['a record', '/api/channel/copperloop?type=handle'],
    ['a search', '/api/search?q=saltmarrow'],
    ['a picture', '/UCPennantSample00000003A/avatar?width=64'],
  ])('wait for it at most seven times for %s', async (_what, path) => {
    const instance = await startConnected(server.url);
    const roundsBefore = instance.clock.rounds();
    expect((await instance.get(path)).status).toBe(200);
    const rounds = instance.clock.rounds() - roundsBefore;
    expect(rounds).toBeGreaterThan(0);
    expect(rounds).toBeLessThanOrEqual(7);
  });

  test('admit ten requests of each client before, during and after a freeze together', async () => {
    const instance = await startConnected(server.url);
    const before = await Promise.all(Array.from({ length: 4 }, () => instance.get('/')));
    server.freeze();
    instance.clock.letCommandsTimeOut();
    const during = await Promise.all(Array.from({ length: 30 }, () => instance.get('/')));
    server.thaw();
    instance.clock.giveCommandsTime();
    await reconnect(instance);
    const after = await Promise.all(Array.from({ length: 30 }, () => instance.get('/')));
    expect([statuses(before), statuses(during)]).toEqual([{ 200: 4 }, { 200: 6, 429: 24 }]);
    expect(statuses(after)).toEqual({ 429: 30 });
  });

  test('start without it, and use it when it becomes available', async () => {
    await server.stop();
    const instance = await startInstance(server.url);
    const answers = await Promise.all(Array.from({ length: 15 }, () => instance.get(`/api/channel/${SAMPLE}`)));
    expect(statuses(answers)).toEqual({ 200: 10, 429: 5 });
    expect(await instance.readiness()).toMatchObject({
      ready: true,
      conditions: [{ name: 'redis', detail: expect.stringContaining('ECONNREFUSED') }],
    });
    await server.start();
    await reconnect(instance);
  });
});
