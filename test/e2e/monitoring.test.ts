import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { HolderReading } from '../../src/lib/holders.ts';
import { EVERY_SOURCE, startTestApp, type TestApp } from '../helpers/app.ts';

let service: TestApp;
beforeAll(async () => {
  service = await startTestApp({ env: EVERY_SOURCE });
});
afterAll(() => service.close());

function readDeployed(name: string): string {
  return readFileSync(new URL(`../../deploy/${name}`, import.meta.url), 'utf8');
}

interface Dashboard {
  readonly panels: readonly { readonly title: string; readonly targets: readonly { readonly expr: string }[] }[];
}

function dashboardExpressions(): string[] {
  const { panels } = JSON.parse(readDeployed('grafana-dashboard.json')) as Dashboard;
  return panels.flatMap(({ targets }) => targets.map(({ expr }) => expr));
}

/** The text of every `expr:`, on its line or indented under it. */
function alertExpressions(): string[] {
  const rules = readDeployed('alerts.yaml').split('- alert:').slice(1);
  return rules.map((rule) => /expr: (?:\|\n)?([\s\S]*?)\n {8}(?:for|labels):/.exec(rule)?.[1] ?? '');
}

const METRIC = /\b(?:pennant|process)_[a-z_]+/g;

function metricsIn(expressions: readonly string[]): string[] {
  const names = expressions.flatMap((expression) => expression.match(METRIC) ?? []);
  return [...new Set(names.map((name) => name.replace(/_(?:bucket|sum|count)$/, '')))];
}

async function exposition(): Promise<string> {
  const { payload } = await service.app.console.inject({ url: '/metrics', headers: { host: 'localhost' } });
  return payload;
}

describe.each([
  ['the dashboard', dashboardExpressions],
  ['the alert rules', alertExpressions],
])('%s', (_what, read) => {
  test('names metrics in every expression, and only such as there are', async () => {
    const expressions = read();
    expect(expressions.length).toBeGreaterThan(8);
    for (const expression of expressions) expect(metricsIn([expression])).not.toEqual([]);
    const text = await exposition();
    const unknown = metricsIn(expressions).filter((name) => !text.includes(`# TYPE ${name} `));
    expect(unknown).toEqual([]);
  });
});

test('metrics are named by Prometheus’s conventions', async () => {
  await service.get('/channel/UCPennantSample00000001A');
  const text = await exposition();
  const declared = [...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name = '', type = '']) => ({ name, type }));
  expect(declared.length).toBeGreaterThan(15);
  for (const { name, type } of declared) {
    expect(name).toMatch(/^(?:pennant|process)_[a-z0-9_]+$/);
    expect(name.endsWith('_total'), name).toBe(type === 'counter');
    expect(name, name).not.toMatch(/_(?:ms|millis|kb|mb|minutes|percent)$/);
    if (type === 'histogram') expect(name).toMatch(/_seconds$/);
    expect(text).toContain(`# HELP ${name} `);
  }
});

test('labels have few values whatever is asked for', async () => {
  for (let asked = 0; asked < 50; asked += 1) {
    await service.get(`/unknown-${asked}`);
    await service.get(`/api/channel/nobody${asked}?type=handle`);
    await service.request({ method: 'DELETE', url: `/${asked}` });
  }
  const lines = (await exposition()).split('\n').filter((line) => line.startsWith('pennant_http_requests_total{'));
  expect(lines.length).toBeGreaterThan(2);
  expect(lines.length).toBeLessThan(12);
});

test('metrics and console show the same of everything that grows with requests', async () => {
  await service.get('/channel/UCPennantSample00000001A');
  const text = await exposition();
  const shown = (metric: string, holder: string) => {
    const line = text.split('\n').find((candidate) => candidate.startsWith(`${metric}{holder="${holder}"} `));
    return line === undefined ? undefined : Number(line.slice(line.lastIndexOf(' ') + 1));
  };
  const { payload } = await service.app.console.inject({ url: '/state.json', headers: { host: 'localhost' } });
  const { stores } = JSON.parse(payload) as { stores: readonly HolderReading[] };
  expect(stores.find(({ name }) => name === 'records in memory')).toMatchObject({ entries: 1 });
  for (const { name, ...figures } of stores) {
    expect({
      entries: shown('pennant_held_entries', name),
      maxEntries: shown('pennant_held_max_entries', name),
      bytes: shown('pennant_held_bytes', name),
      maxBytes: shown('pennant_held_max_bytes', name),
    }).toEqual({ entries: undefined, maxEntries: undefined, bytes: undefined, maxBytes: undefined, ...figures });
  }
});
