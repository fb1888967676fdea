import { mkdir, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { pino } from 'pino';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { ConsoleState } from '../../src/console/state.ts';
import { AppError } from '../../src/domain/errors.ts';
import { picturesDirectory } from '../../src/picture-store/file-names.ts';
import type { ChannelSource } from '../../src/sources/source.ts';
import { channelKey, originalKey, searchKey } from '../../src/store/keys.ts';
import { createSqliteStore, databasePath } from '../../src/store/sqlite.ts';
import { startTestApp, type TestApp, type TestAppOptions } from '../helpers/app.ts';
import { createManualClock } from '../helpers/clock.ts';
import { createFakeEncoder } from '../helpers/fake-encoder.ts';
import { numberedChannelId, numberedSource } from '../helpers/fake-source.ts';
import { createTemporaryDirectory } from '../helpers/temporary-directory.ts';

const [SAMPLE, OTHER] = ['UCPennantSample00000001A', 'UCPennantSample00000003A'];
const MIB = 2 ** 20;

async function start(options: TestAppOptions = {}): Promise<TestApp> {
  const service = await startTestApp({ encoder: createFakeEncoder(), ...options });
  onTestFinished(() => service.close());
  return service;
}

async function conditions(service: TestApp): Promise<object[]> {
  return (await service.console('/readyz')).json<{ conditions: object[] }>().conditions;
}

async function stateOf(service: TestApp): Promise<ConsoleState> {
  return (await service.console('/state.json')).json();
}

/** The value of one series; `undefined` where there is none. */
async function metric(service: TestApp, series: string): Promise<number | undefined> {
  const { text } = await service.console('/metrics');
  const line = text.split('\n').find((one) => one.startsWith(`${series} `));
  return line === undefined ? undefined : Number(line.split(' ').at(-1));
}

describe('a part that fails', () => {
  test('shows in readiness and metrics while pictures cannot be stored, and no longer', async () => {
    const dataDir = await createTemporaryDirectory();
    const obstacle = join(dataDir, 'pictures');
    await writeFile(obstacle, 'a file where the directory should be');
    const service = await start({ dataDir });
    expect((await service.get(`/${SAMPLE}/tv.webp`)).status).toBe(200);
    const isTold = () => conditions(service);
    const told = { name: 'pictures', detail: 'cannot be stored', isBlocking: false };
    await expect.poll(isTold, { timeout: 60_000 }).toEqual([told]);
    expect(await metric(service, 'pennant_part_degraded{part="pictures"}')).toBe(1);

    await rm(obstacle);
    expect((await service.get(`/${OTHER}/tv.webp`)).status).toBe(200);
    await expect.poll(isTold, { timeout: 60_000 }).toEqual([]);
    expect(await metric(service, 'pennant_part_degraded{part="pictures"}')).toBeUndefined();
  });

  test('shows in readiness while records cannot be stored; they are answered all the same', async () => {
    const dataDir = await createTemporaryDirectory();
    await mkdir(join(dataDir, 'cache.db'));
    const service = await start({ dataDir });
    expect((await service.get(`/channel/${SAMPLE}`)).status).toBe(200);
    expect(await conditions(service)).toEqual([{ name: 'cache', detail: 'cannot be used', isBlocking: false }]);
  });

  test('shows in readiness where a catalog cannot be read', async () => {
    const dataDir = await createTemporaryDirectory();
    await writeFile(join(dataDir, 'catalog.db'), 'no database at all'.repeat(1_000));
    const service = await start({ dataDir });
    expect((await service.get(`/channel/${SAMPLE}`)).status).toBe(503);
    expect(await conditions(service)).toContainEqual(expect.objectContaining({ name: 'catalog', isBlocking: false }));
  });

  test('stops new requests once the service is being stopped', async () => {
    const service = await start();
    service.app.announceStop();
    const response = await service.console('/readyz');
    expect([response.status, response.json().ready]).toEqual([503, false]);
  });
});

describe('a setting reaches the part that it is for', () => {
  test('as the bound that the console shows', async () => {
    const service = await start({
      env: {
        MEMORY_CACHE_BYTES: '10MiB',
        IMAGE_CACHE_BYTES: '50MiB',
        RATE_LIMIT_CLIENTS: '5000',
        ENCODER_QUEUE: '7',
      },
    });
    const { stores } = await stateOf(service);
    const bounds = Object.fromEntries(stores.map(({ name, maxBytes, maxEntries }) => [name, maxBytes ?? maxEntries]));
    expect(bounds).toMatchObject({
      'records in memory': 2 * MIB,
      'names in memory': MIB / 2,
      'searches in memory': MIB,
      'originals in memory': MIB / 2,
      'pictures in memory': 6 * MIB,
      'pictures on disk': 50 * MIB,
      'rate limit': 5_000,
      'encoder queue': 7,
    });
  });

  test('RATE_LIMIT_IPV6_PREFIX', async () => {
    const env = {
      RATE_LIMIT_OVERRIDES: '',
      RATE_LIMIT_IPV6_PREFIX: '48',
      TRUST_PROXY: '127.0.0.0/8',
      BASE_URL: 'http://pennant.test',
    };
    const service = await start({ env });
    const left = async (client: string) =>
      (await service.get('/', { 'x-forwarded-for': client })).headers['x-ratelimit-remaining'];
    expect(await left('2001:db8:1:1::1')).toBe('9');
    expect(await left('2001:db8:1:2::1')).toBe('8');
    expect(await left('2001:db8:2:1::1')).toBe('9');
  });
});

test('the console knows since when the service runs', async () => {
  const beforeMs = Date.now();
  const { startedAtMs, nowMs } = await stateOf(await start());
  expect(startedAtMs).toBeGreaterThanOrEqual(beforeMs);
  expect(nowMs).toBeGreaterThanOrEqual(startedAtMs);
});

test('metrics count what was asked of sources, found and kept', async () => {
  const service = await start({ env: { RATE_LIMIT_OVERRIDES: '', RATE_LIMIT: '4/30' } });
  await service.get(`/channel/${SAMPLE}`);
  await service.get('/@nobody/tv');
  await service.get(`/${SAMPLE}/tv.webp`);
  await service.get(`/${SAMPLE}/tv.webp?width=99`);
  await service.get('/');
  const calls = (operation: string, outcome: string) =>
    metric(service, `pennant_source_calls_total{source="catalog",operation="${operation}",outcome="${outcome}"}`);
  expect(await calls('getChannel', 'found')).toBe(1);
  expect(await calls('resolve', 'channel_not_found')).toBe(1);
  expect(await metric(service, 'pennant_limiter_clients')).toBe(1);
  expect(await metric(service, 'pennant_refused_networks')).toBe(1);
  expect(await metric(service, 'pennant_memory_entries{kind="records"}')).toBe(1);
  expect(await metric(service, 'pennant_memory_entries{kind="originals"}')).toBe(1);
  expect(await metric(service, 'pennant_memory_entries{kind="searches"}')).toBe(0);
  const bytes = (kind: string) => metric(service, `pennant_picture_store_bytes{kind="${kind}"}`);
  await expect.poll(() => bytes('custom'), { timeout: 60_000 }).toBeGreaterThan(0);
  expect(await bytes('plain')).toBeGreaterThan(Number(await bytes('custom')));
  expect(await bytes('memory')).toBeGreaterThan(0);
});

test('metrics tell times in seconds', async () => {
  const clock = createManualClock();
  const source = numberedSource();
  const slow: ChannelSource = {
    ...source,
    getChannel(channelId, options) {
      clock.advance(2_000);
      return source.getChannel(channelId, options);
    },
  };
  const service = await start({ clock, sources: [slow] });
  await service.get(`/channel/${numberedChannelId(1)}`);
  const call = 'pennant_source_call_duration_seconds_sum{source="numbered",operation="getChannel"}';
  expect(await metric(service, call)).toBe(2);
  expect(await metric(service, 'pennant_http_request_duration_seconds_sum{route="/channel/:identifier"}')).toBe(2);
});

test('metrics tell what encoders take, which is less than what the request took', async () => {
  const service = await startTestApp();
  onTestFinished(() => service.close());
  const startedAtMs = performance.now();
  await service.get(`/${SAMPLE}/avatar.jpg?width=20`);
  const elapsedSeconds = (performance.now() - startedAtMs) / 1_000;
  // The first task waits for its process to start.
  for (const task of ['inspect', 'encode']) {
    for (const name of ['pennant_encoder_wait_duration_seconds', 'pennant_encoder_task_duration_seconds']) {
      const seconds = await metric(service, `${name}_sum{task="${task}"}`);
      expect([task, name, await metric(service, `${name}_count{task="${task}"}`)]).toEqual([task, name, 1]);
      expect(seconds, `${name} ${task}`).toBeLessThan(elapsedSeconds);
    }
    const sumOf = (what: string) => metric(service, `pennant_encoder_${what}_duration_seconds_sum{task="${task}"}`);
    expect(await sumOf('wait'), task).not.toBe(await sumOf('task'));
  }
});

/** Answers nothing for long enough that it is left alone. */
function failingSource(): ChannelSource {
  const fail = () => Promise.reject(new AppError('upstream_unavailable', 'down'));
  return { ...numberedSource(), name: 'failing', resolve: fail, getChannel: fail, search: fail };
}

test('a source that fails is left alone, and says so in readiness and metrics', async () => {
  const service = await start({ sources: [failingSource()] });
  const series = 'pennant_breaker_openings_total{upstream="failing"}';
  for (let number = 0; number < 20; number += 1) await service.get(`/channel/${numberedChannelId(number)}`);
  expect(await conditions(service)).toEqual([
    { name: 'source failing', detail: 'circuit breaker open', isBlocking: false },
  ]);
  expect([await metric(service, series), await metric(service, 'pennant_breaker_open{upstream="failing"}')]).toEqual([
    1, 1,
  ]);
  const calls = 'pennant_source_calls_total{source="failing",operation="getChannel",outcome="upstream_unavailable"}';
  expect(await metric(service, calls)).toBe(20);
  expect((await service.get(`/channel/${numberedChannelId(30)}`)).headers['retry-after']).toBe('10');
});

test('a source that is tried again after a pause counts as paused until it has answered', async () => {
  const probe = { asked: Promise.withResolvers<void>(), answered: Promise.withResolvers<void>() };
  const failing = failingSource();
  const working = numberedSource();
  let isWorking = false;
  const source: ChannelSource = {
    ...failing,
    async getChannel(channelId, options) {
      if (!isWorking) return failing.getChannel(channelId, options);
      probe.asked.resolve();
      await probe.answered.promise;
      return working.getChannel(channelId, options);
    },
  };
  const service = await start({ sources: [source] });
  const isPaused = () => metric(service, 'pennant_breaker_open{upstream="failing"}');
  for (let number = 0; number < 20; number += 1) await service.get(`/channel/${numberedChannelId(number)}`);
  isWorking = true;
  service.clock.advance(10_000);
  const asking = service.get(`/channel/${numberedChannelId(40)}`);
  await probe.asked.promise;
  expect(await conditions(service)).toEqual([expect.objectContaining({ detail: 'circuit breaker half-open' })]);
  expect((await stateOf(service)).sources).toContainEqual(
    expect.objectContaining({ name: 'failing', breaker: 'half-open' }),
  );
  expect(await isPaused()).toBe(1);
  probe.answered.resolve();
  expect((await asking).status).toBe(200);
  expect([await conditions(service), await isPaused()]).toEqual([[], 0]);
});

test('a stored value that is not ours is counted by its kind, and loaded anew', async () => {
  const dataDir = await createTemporaryDirectory();
  const clock = createManualClock();
  const store = createSqliteStore({
    path: databasePath(dataDir),
    maxBytes: MIB,
    clock,
    onEvent: () => undefined,
  });
  const nonsense = { value: JSON.stringify({ value: 'nonsense', freshMs: 60_000 }), storedAtMs: clock.now() };
  for (const key of [channelKey(SAMPLE), originalKey(SAMPLE, 'banner'), searchKey('crops')]) {
    await store.set(key, nonsense, 60_000);
  }
  await store.close();
  const service = await start({ dataDir, clock });
  for (const url of [`/channel/${SAMPLE}`, `/${SAMPLE}/tv.webp`, '/api/search?q=crops']) {
    expect([url, (await service.get(url)).status]).toEqual([url, 200]);
  }
  const refused = (kind: string) => metric(service, `pennant_stored_values_refused_total{kind="${kind}"}`);
  expect(await Promise.all(['channel', 'original', 'search', 'name'].map(refused))).toEqual([1, 1, 1, 0]);
});

describe('the log', () => {
  async function startLogged(options: TestAppOptions = {}) {
    const lines: Record<string, unknown>[] = [];
    const destination = new Writable({
      write(chunk, _encoding, done) {
        lines.push(JSON.parse(String(chunk)));
        done();
      },
    });
    return { lines, service: await start({ logger: pino({ level: 'info' }, destination), ...options }) };
  }

  const LEVELS = { info: 30, warn: 40, error: 50 };

  test('says once that a proxy’s clients share one limit, and only of a proxy that may be the operator’s', async () => {
    const { lines, service } = await startLogged();
    for (const client of ['203.0.113.1', '203.0.113.2']) await service.get('/', { 'x-forwarded-for': client });
    const warnings = lines.filter(({ msg }) => String(msg).startsWith('X-Forwarded-For'));
    expect(warnings).toMatchObject([{ level: LEVELS.warn, address: '127.0.0.1' }]);
  });

  test('tells a bug from an upstream that fails', async () => {
    const bug: ChannelSource = {
      ...failingSource(),
      isLive: true,
      getChannel: () => Promise.reject(new Error('oops')),
    };
    const { lines, service } = await startLogged({ sources: [bug] });
    const statuses = [];
    for (const url of [`/channel/${SAMPLE}`, '/@nobody/tv']) statuses.push((await service.get(url)).status);
    expect(statuses).toEqual([500, 503]);
    const failed = lines.filter(({ level }) => Number(level) >= LEVELS.warn);
    expect(failed).toMatchObject([
      { level: LEVELS.error, source: 'failing', err: { message: 'oops' } },
      { level: LEVELS.warn, source: 'failing', reason: expect.any(String) },
    ]);
    expect(failed[1]).not.toHaveProperty('err');
  });

  test('sums up the failures that had no line of their own', async () => {
    const { lines, service } = await startLogged({ sources: [failingSource()] });
    for (let number = 0; number < 3; number += 1) await service.get(`/channel/${numberedChannelId(number)}`);
    const repeated = expect.objectContaining({ level: LEVELS.warn, source: 'failing', repeated: 2 });
    service.clock.advance(60_000);
    expect(lines).not.toContainEqual(repeated);
    await service.app.runDueWork();
    expect(lines).toContainEqual(repeated);
  });

  test('names a picture file that is damaged, and says that cache.db was begun anew', async () => {
    const dataDir = await createTemporaryDirectory();
    const url = `/${SAMPLE}/tv.webp`;
    const before = await startTestApp({ dataDir, encoder: createFakeEncoder() });
    const { bytes } = await before.get(url);
    await before.close();
    const pictures = await readdir(picturesDirectory(dataDir), { recursive: true, withFileTypes: true });
    const files = pictures.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name));
    expect(files).toHaveLength(2);
    for (const file of files) await writeFile(file, Buffer.alloc((await stat(file)).size, 'damaged'));
    await writeFile(databasePath(dataDir), 'no database at all');

    const { lines, service } = await startLogged({ dataDir });
    const answer = await service.get(url);
    expect([answer.status, answer.bytes]).toEqual([200, bytes]);
    expect(lines).toContainEqual(expect.objectContaining({ level: LEVELS.warn, msg: 'cache.db', kind: 'rebuilt' }));
    const damaged = lines.filter(({ msg, kind }) => msg === 'pictures' && kind === 'damaged');
    expect(damaged).toMatchObject([{ level: LEVELS.warn, path: expect.stringContaining(dataDir) }]);
  });

  test('has a line for each answer where the operator wants one, with the network or the address', async () => {
    const request = async (env: Record<string, string>) => {
      const { lines, service } = await startLogged({ env });
      await service.get(`/channel/${SAMPLE}`);
      return lines.filter(({ msg }) => msg === 'request');
    };
    expect(await request({})).toEqual([]);
    expect(await request({ ACCESS_LOG: 'on' })).toMatchObject([{ status: 200, client: '127.0.0.0/24', cache: 'miss' }]);
    const full = { ACCESS_LOG: 'on', LOG_ADDRESSES: 'full' };
    expect(await request(full)).toMatchObject([{ status: 200, client: '127.0.0.1', cache: 'miss' }]);
  });
});
