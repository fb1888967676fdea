import { Counter, Registry } from '@prometheus-io/client';
import { expect, test } from 'vitest';
import { readTotals } from './totals.ts';

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
