import { spawnSync } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { childrenOf, isRunning, type ServiceProcess, startService, startServiceForTest } from '../helpers/process.ts';
import { youtubeSettings } from '../helpers/replay-server.ts';
import { createTemporaryDirectory } from '../helpers/temporary-directory.ts';
import { startReplayForTest } from '../helpers/youtube-service.ts';

const SAMPLE = 'UCPennantSample00000001A';
const RECORD = '/api/channel/BellRockLight?type=handle';
/** Nothing listens at this address. */
const NOWHERE = 'http://127.0.0.1:9';

async function start(directory: string, prefix: readonly string[] = [], env = {}): Promise<ServiceProcess> {
  return startServiceForTest({ directory, prefix, env: { ENCODERS: '1', ...env } });
}

/** A service with a request that does not finish before its upstream is released. */
async function startWithRequest(directory: string) {
  const released = Promise.withResolvers<void>();
  const replay = await startReplayForTest({ mayRespond: () => released.promise });
  const service = await start(directory, [], youtubeSettings(replay.origin));
  const response = fetch(service.base + RECORD);
  await expect.poll(() => replay.calls.length).toBe(1);
  return { service, response, release: released.resolve };
}

async function untilRefused({ base }: ServiceProcess): Promise<void> {
  await expect.poll(() => fetch(base).catch(() => 'refused')).toBe('refused');
}

test('finishes what it accepted on SIGTERM, and has the result after a restart', async () => {
  const directory = await createTemporaryDirectory();
  const { service: first, ...held } = await startWithRequest(directory);
  first.child.kill('SIGTERM');
  await untilRefused(first);
  held.release();
  const response = await held.response;
  const record = await response.text();
  expect([response.status, record]).toEqual([200, expect.stringContaining('Bell Rock Light')]);
  expect(await first.ended).toBe(0);

  const second = await start(directory, [], youtubeSettings(NOWHERE));
  const after = await fetch(second.base + RECORD);
  expect(after.headers.get('cache-status')).toMatch(/^pennant; hit/);
  expect((await after.text()).replaceAll(second.base, first.base)).toBe(record);
});

test('finishes a request under way when Ctrl-C arrives twice, as from a terminal that also sends it to npm', async () => {
  const { service, ...held } = await startWithRequest(await createTemporaryDirectory());
  service.child.kill('SIGINT');
  service.child.kill('SIGINT');
  await untilRefused(service);
  held.release();
  expect((await held.response).status).toBe(200);
  expect(await service.ended).toBe(0);
});

test('prints the URLs of its pages, and has health, readiness and metrics on the private listener only', async () => {
  const env = { BASE_URL: 'https://img.pennant.example' };
  const { base, inside, output } = await start(await createTemporaryDirectory(), [], env);
  await fetch(`${base}/api/channel/${SAMPLE}`);
  expect(await (await fetch(`${inside}/healthz`)).json()).toEqual({ status: 'ok' });
  expect(await (await fetch(`${inside}/readyz`)).json()).toMatchObject({ ready: true, conditions: [] });
  const metrics = await (await fetch(`${inside}/metrics`)).text();
  expect(metrics).toContain('pennant_http_requests_total{route="/api/channel/:identifier",status="200"} 1');
  expect((await fetch(`${base}/metrics`)).status).toBe(404);
  const { port } = new URL(inside);
  const pages = [`http://localhost:${port}/playground/`, `http://localhost:${port}/`];
  await expect.poll(() => output().match(/http:\/\/[^\s"]+/g)).toEqual(pages);
  for (const url of pages) expect((await fetch(url)).status).toBe(200);
});

test('stops when npm gets SIGTERM, which ends npm’s shell but does not reach the service', async () => {
  const service = await startService({
    directory: await createTemporaryDirectory(),
    env: { npm_lifecycle_event: 'start' },
    prefix: ['sh', '-c', '"$0" "$@"; :'],
  });
  const [pid = 0] = await childrenOf(service.pid);
  onTestFinished(async () => {
    if (await isRunning(pid)) process.kill(pid, 'SIGKILL');
  });
  service.child.kill('SIGTERM');
  await expect.poll(() => isRunning(pid)).toBe(false);
  expect(service.output()).toContain('stopping: accepted requests finish first');
});

test.each(['/proc/pennant', '/proc/pennant/data', '/dev/null/data'])(
  'starts without a disk, and says so in a plain line, if DATA_DIR is %s; and a stop works',
  async (dataDir) => {
    const service = await start(await createTemporaryDirectory(), [], { DATA_DIR: dataDir });
    const [line = ''] = service.stdout().split('\n');
    expect(JSON.parse(line)).toEqual({
      level: 40,
      time: expect.any(String),
      condition: 'cache',
      reason: expect.stringMatching(/^\S+cache\.db: E(?:NOENT|NOTDIR): .*, mkdir '\S+'$/),
      msg: 'cache: cannot be used',
    });
    expect((await fetch(`${service.base}/channel/${SAMPLE}`)).status).toBe(200);
    service.child.kill('SIGTERM');
    expect(await service.ended).toBe(0);
  },
);

const canReplaceResolvers = process.getuid?.() === 0 && spawnSync('unshare', ['-m', 'true']).status === 0;

test.skipIf(!canReplaceResolvers)('stops while the name server of the machine is silent', async () => {
  const silent = createSocket('udp4').bind(53, '127.0.77.1');
  onTestFinished(() => void silent.close());
  await once(silent, 'listening');
  const asked = once(silent, 'message');
  const directory = await createTemporaryDirectory();
  const file = join(directory, 'resolv.conf');
  // A question ends after five minutes: much later than the test.
  await writeFile(file, 'nameserver 127.0.77.1\noptions timeout:30 attempts:5\n');
  const replaced = ['unshare', '-m', 'sh', '-c', `mount --bind ${file} /etc/resolv.conf && exec "$0" "$@"`];
  const service = await start(directory, replaced, { SOURCES: 'youtube' });
  const response = fetch(`${service.base}/api/channel/${SAMPLE}`).catch(() => undefined);
  await asked;
  service.child.kill('SIGTERM');
  expect(await service.ended).toBe(0);
  await response;
});
