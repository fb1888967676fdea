import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, onTestFinished, test } from 'vitest';
import { SETTINGS } from '../../src/config/settings.ts';
import { EVERY_SOURCE, startTestApp } from '../helpers/app.ts';
import { blockWith, readDocument, tableRows, textPattern } from '../helpers/documents.ts';
import { answerStatus, startFakeUpstream } from '../helpers/fake-upstream.ts';
import { findFreePort, startService } from '../helpers/process.ts';
import { createTemporaryDirectory } from '../helpers/temporary-directory.ts';

/** The names in the first cells of the tables under a heading of docs/operating.md. */
function namedUnder(heading: string): string[] {
  return tableRows('docs/operating.md', heading).flatMap(([cell = '']) =>
    [...cell.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name),
  );
}

describe('the documents name metrics that exist', () => {
  async function registeredMetrics(): Promise<string[]> {
    // A Redis that cannot be reached has metrics too.
    const env = { ...EVERY_SOURCE, REDIS_URL: `redis://127.0.0.1:${await findFreePort()}` };
    const service = await startTestApp({ env });
    onTestFinished(() => service.close());
    const { text } = await service.console('/metrics');
    return [...text.matchAll(/^# TYPE (\S+)/gm)].map(([, name = '']) => name);
  }

  test('docs/operating.md lists all of them', async () => {
    const registered = await registeredMetrics();
    expect(registered.length).toBeGreaterThan(20);
    expect(namedUnder('Metrics').toSorted()).toEqual(registered.toSorted());
  });

  test('docs/scaling.md lists some of them', async () => {
    const registered = new Set(await registeredMetrics());
    const named = [...readDocument('docs/scaling.md').text.matchAll(/pennant_\w+/g)].map(([name]) => name);
    expect(named.length).toBeGreaterThan(8);
    // The series of a histogram have a suffix.
    expect(named.filter((name) => !registered.has(name.replace(/_(?:bucket|sum|count)$/, '')))).toEqual([]);
  });
});

test('docs/scaling.md names settings that exist', () => {
  const known = new Set<string>(Object.values(SETTINGS).map(({ env }) => env));
  const spans = readDocument('docs/scaling.md').spans.map((span) => span.split('=')[0] ?? '');
  const named = spans.filter((span) => /^[A-Z]+(?:_[A-Z]+)+$/.test(span));
  expect(named.length).toBeGreaterThan(5);
  expect(named.filter((name) => !known.has(name))).toEqual([]);
});

test('docs/operating.md has every message of level info and above that a failing service logs', async () => {
  const failing = await startFakeUpstream(answerStatus(500));
  onTestFinished(() => failing.close());
  const nowhere = `127.0.0.1:${await findFreePort()}`;
  const service = await startService({
    directory: await createTemporaryDirectory(),
    env: {
      SOURCES: 'youtube,youtube-data-api',
      YOUTUBE_ORIGIN: `http://${nowhere}`,
      YOUTUBE_API_ORIGIN: failing.origin,
      YOUTUBE_API_KEY: 'key',
      REDIS_URL: `redis://${nowhere}`,
      OTEL_EXPORTER_OTLP_ENDPOINT: `http://${nowhere}`,
      ACCESS_LOG: 'on',
      BASE_ULR: 'misspelled',
      RATE_LIMIT_OVERRIDES: '127.0.0.0/8=unlimited',
    },
  });
  onTestFinished(() => void service.child.kill('SIGKILL'));
  expect((await fetch(`${service.base}/UCPennantSample00000001A/tv`)).status).toBe(503);
  await fetch(service.base, { headers: { 'x-forwarded-for': '203.0.113.1' } });
  service.child.kill('SIGTERM');
  expect(await service.ended).toBe(0);

  const lines = service
    .output()
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line) as { level: number; msg: string });
  const logged = new Set(lines.filter(({ level }) => level >= 30).map(({ msg }) => msg));
  expect([...logged]).toEqual(
    expect.arrayContaining([
      'source failed',
      'request',
      expect.stringMatching(/^redis: not/),
      expect.stringMatching(/^youtube: cannot/),
    ]),
  );
  const documented = namedUnder('Log lines').map(textPattern);
  expect([...logged].filter((message) => !documented.some((pattern) => pattern.test(message)))).toEqual([]);
});

test('the command in docs/operating.md lists the clients that requested badges', async () => {
  const directory = await createTemporaryDirectory();
  const service = await startService({
    directory,
    env: { ACCESS_LOG: 'on', LOG_ADDRESSES: 'full', TRUST_PROXY: '127.0.0.1/32', BASE_URL: 'https://img.example.org' },
  });
  onTestFinished(() => void service.child.kill('SIGKILL'));
  const ask = (path: string, address: string) =>
    fetch(`${service.base}${path}`, { headers: { 'x-forwarded-for': address } });
  for (const address of ['198.51.100.7', '2001:db8:17::5', '198.51.100.7']) {
    await ask('/api/badge/@pennantsample', address);
  }
  await ask('/api/channel/UCPennantSample00000001A', '203.0.113.9');
  await expect.poll(service.output).toContain('203.0.113.9');
  await writeFile(join(directory, 'pennant.log'), service.output());
  const command = blockWith('docs/operating.md', '/api/badge/', 'sh');
  const { stdout } = await promisify(execFile)('sh', ['-c', command], { cwd: directory });
  expect(stdout.trim().split(/\n */)).toEqual(['2 "client":"198.51.100.7"', '1 "client":"2001:db8:17::5"']);
});
