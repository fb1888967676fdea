import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { EVERY_SOURCE, startForTest } from '../helpers/app.ts';
import { isInstalled } from '../helpers/installed.ts';

/* Prometheus's own tool checks the files for Prometheus and the metrics of the service. */

const DEPLOY = fileURLToPath(new URL('../../deploy/', import.meta.url));

function promtool(args: readonly string[], input?: string): { status: number | null; output: string } {
  const { status, stdout, stderr } = spawnSync('promtool', args, { cwd: DEPLOY, encoding: 'utf8', input });
  return { status, output: stdout + stderr };
}

describe.skipIf(!isInstalled('promtool', 'what Prometheus reads of deploy/', 'prometheus'))('promtool', () => {
  test('accepts the alert rules and the scrape configuration', () => {
    expect(promtool(['check', 'rules', 'alerts.yaml'])).toMatchObject({ status: 0 });
    expect(promtool(['check', 'config', 'prometheus.yaml'])).toMatchObject({ status: 0 });
  });

  test('shows that each alert fires when it should, and not before', () => {
    expect(promtool(['test', 'rules', 'alerts-test.yaml'])).toEqual({
      status: 0,
      output: expect.stringContaining('SUCCESS'),
    });
  });

  test('accepts the metrics', async () => {
    const service = await startForTest({ env: { ...EVERY_SOURCE, REDIS_URL: 'redis://127.0.0.1:1' } });
    await service.get('/UCPennantSample00000001A/tv?width=64');
    const { text } = await service.console('/metrics');
    expect(promtool(['check', 'metrics'], text)).toEqual({ status: 0, output: '' });
  });
});
