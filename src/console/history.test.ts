import { Counter, Registry } from '@prometheus-io/client';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { growthSince, quantile, readTotals, STEP_SECONDS, startHistory } from './history.ts';

const STEP_MS = STEP_SECONDS * 1_000;

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

test('the history keeps a quarter of an hour, however long the service runs', async () => {
  const metrics = new Registry();
  const requests = new Counter({
    name: 'pennant_http_requests_total',
    help: 'x',
    labelNames: ['route', 'status'],
    registers: [metrics],
  });
  const read = async () => ({ atMs: Date.now(), totals: await readTotals(metrics), queued: 0 });
  const history = await startHistory(() => {
    requests.inc({ route: '/', status: 200 });
    return read();
  });
  expect(history.steps()).toHaveLength(180);
  expect(history.steps().every(({ requests }) => requests.responded === 0)).toBe(true);
  expect(history.recent(await read()).seconds).toBe(1);
  await vi.advanceTimersByTimeAsync(10 * STEP_MS);
  expect(history.steps().map(({ requests }) => requests.responded)).toEqual([
    ...Array(170).fill(0),
    ...Array(10).fill(1),
  ]);
  expect(history.recent(await read()).seconds).toBe(50);
  await vi.advanceTimersByTimeAsync(1_000 * STEP_MS);
  const steps = history.steps();
  expect(steps).toHaveLength(180);
  expect(steps.map(({ requests }) => requests.responded)).toEqual(steps.map(() => 1));
  expect(history.recent(await read()).seconds).toBe(900);
  history.stop();
});

test('requests are counted by outcome', async () => {
  const metrics = new Registry();
  const requests = new Counter({
    name: 'pennant_http_requests_total',
    help: 'x',
    labelNames: ['route', 'status'],
    registers: [metrics],
  });
  for (const status of [200, 204, 304, 400, 404, 429, 451, 500, 503]) requests.inc({ route: '/', status });
  expect((await readTotals(metrics)).requests).toEqual({
    responded: 2,
    unchanged: 1,
    clientError: 3,
    refused: 1,
    failed: 2,
  });
});

test('lookups are counted by kind and outcome', async () => {
  const metrics = new Registry();
  const lookups = new Counter({
    name: 'pennant_cache_lookups_total',
    help: 'x',
    labelNames: ['route', 'outcome'],
    registers: [metrics],
  });
  const routes = {
    records: [
      '/api/channel/:identifier',
      '/channel/:identifier',
      '/c/:identifier',
      '/user/:identifier',
      '/api/channels',
      '/api/badge/:identifier',
      '/api/badge/:identifier.svg',
      '/youtube/channel/subscribers/:identifier',
    ],
    searches: ['/api/search'],
    images: ['/:identifier', '/:identifier/:variant', '/api/banner/:identifier', '/api/banner/:identifier/:variant'],
  };
  const outcomes = ['hit', 'stale', 'miss', 'refreshed'];
  for (const route of Object.values(routes).flat()) {
    for (const outcome of outcomes) lookups.inc({ route, outcome });
  }
  const each = (count: number) => Object.fromEntries(outcomes.map((outcome) => [outcome, count]));
  expect((await readTotals(metrics)).lookups).toEqual({ records: each(8), searches: each(1), images: each(4) });
});

const bucketsOf = (first: number, second: number, third: number, all: number) => ({
  '1': second,
  '10': third,
  '0.1': first,
  '+Inf': all,
});

describe('a quantile', () => {
  test('is interpolated inside its bucket', () => {
    const buckets = bucketsOf(0, 10, 10, 10);
    expect(quantile(buckets, 0.5)).toBeCloseTo(0.55);
    expect(quantile(buckets, 1)).toBeCloseTo(1);
  });

  test('counts the buckets below', () => {
    expect(quantile(bucketsOf(90, 90, 100, 100), 0.95)).toBeCloseTo(5.5);
  });

  test('is the last finite bound for values above it', () => {
    expect(quantile(bucketsOf(1, 1, 1, 100), 0.5)).toBe(10);
  });

  test('is unknown without observations', () => {
    expect(quantile(bucketsOf(0, 0, 0, 0), 0.5)).toBeNull();
    expect(quantile({}, 0.5)).toBeNull();
  });
});

test('the growth excludes earlier counts, at every level', () => {
  const earlier = { all: 1, kinds: { old: 2, same: 1 } };
  const now = { all: 1, kinds: { old: 5, same: 1, new: 1 } };
  expect(growthSince(now, earlier)).toEqual({ all: 0, kinds: { old: 3, same: 0, new: 1 } });
  expect(growthSince(now)).toEqual(now);
});
