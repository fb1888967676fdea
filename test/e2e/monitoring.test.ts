import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parse as parseYaml } from 'yaml';
import { EVERY_SOURCE, startTestApp, type TestApp } from '../helpers/app.ts';
import { readMetrics } from '../helpers/metrics.ts';
import { youtubeSettings } from '../helpers/replay-server.ts';

let service: TestApp;
let atStart: string;
beforeAll(async () => {
  // Nothing listens at these addresses, but the metrics of Redis and of the upstreams exist nevertheless.
  const upstreams = youtubeSettings('http://127.0.0.1:1');
  service = await startTestApp({ env: { ...upstreams, ...EVERY_SOURCE, REDIS_URL: 'redis://127.0.0.1:1' } });
  atStart = await exposition();
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

interface AlertRule {
  readonly alert: string;
  readonly expr: string;
  readonly annotations: { readonly guide: string };
}

function alertRules(): AlertRule[] {
  const { groups } = parseYaml(readDeployed('alerts.yaml')) as { groups: { rules: AlertRule[] }[] };
  return groups.flatMap(({ rules }) => rules);
}

const alertExpressions = () => alertRules().map(({ expr }) => expr);

/** Of Prometheus itself, of its node exporter, and of kube-state-metrics. The last two see the doctor's timer. */
const FOREIGN_METRICS = ['up', 'node_systemd_unit_state', 'kube_job_status_failed'];
const METRIC = /\b(?:pennant|process|node|kube)_[a-z_]+|\bup(?=\{)/g;

function metricsIn(expressions: readonly string[]): string[] {
  const names = expressions.flatMap((expression) => expression.match(METRIC) ?? []);
  return [...new Set(names.map((name) => name.replace(/_(?:bucket|sum|count)$/, '')))];
}

async function exposition(): Promise<string> {
  return (await service.console('/metrics')).text;
}

describe.each([
  ['the dashboard', dashboardExpressions],
  ['the alert rules', alertExpressions],
])('%s', (_what, read) => {
  test('uses only metrics that exist, and at least one in every expression', async () => {
    const expressions = read();
    expect(expressions.length).toBeGreaterThan(8);
    for (const expression of expressions) expect(metricsIn([expression])).not.toEqual([]);
    const text = await exposition();
    const unknown = metricsIn(expressions).filter(
      (name) => !FOREIGN_METRICS.includes(name) && !text.includes(`# TYPE ${name} `),
    );
    expect(unknown).toEqual([]);
  });
});

test('every alert links the row of the guide that says what to do', () => {
  const operating = readFileSync(new URL('../../docs/operating.md', import.meta.url), 'utf8');
  for (const { alert, annotations } of alertRules()) {
    expect(annotations.guide).toBe(`docs/operating.md#${alert.toLowerCase()}`);
    expect(operating).toContain(`<a id="${alert.toLowerCase()}"></a>`);
  }
});

test('labels have few values, whatever clients request', async () => {
  const countSeries = async () =>
    [...readMetrics(await exposition()).keys()].filter((name) => name.startsWith('pennant_http_requests_total{'))
      .length;
  const before = await countSeries();
  for (let asked = 0; asked < 2; asked += 1) {
    await service.get(`/unknown-${asked}`);
    await service.get(`/api/channel/nobody${asked}?type=handle`);
    await service.request({ method: 'DELETE', url: `/${asked}` });
  }
  // Three new statuses, of three routes.
  expect((await countSeries()) - before).toBeLessThanOrEqual(9);
});

test('every series whose increase triggers an alert exists from the start', () => {
  for (const route of ['/api/channel/:identifier', '/:identifier', '/api/search', 'none']) {
    for (const status of [500, 502, 503, 504]) {
      expect(atStart).toContain(`pennant_http_requests_total{route="${route}",status="${status}"} 0\n`);
    }
  }
  for (const reason of ['crash', 'deadline', 'unusable']) {
    expect(atStart).toContain(`pennant_encoder_processes_ended_total{reason="${reason}"} 0\n`);
  }
  const calls = ['names', 'searches', 'pages', 'feeds'].map((part) => `youtube ${part}`);
  for (const source of ['youtube', ...calls, 'youtube-data-api', 'youtube-data-api searches', 'image hosts']) {
    for (const cause of ['unreachable', 'refused', 'quota', 'failing']) {
      expect(atStart).toContain(`pennant_source_paused{source="${source}",cause="${cause}"} 0\n`);
    }
  }
});
