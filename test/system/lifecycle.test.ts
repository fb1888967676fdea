import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { PROGRAM } from '../helpers/program.ts';
import { childrenOf } from '../helpers/service-process.ts';

const SAMPLE = 'UCPennantSample00000001A';
/** Only a hang meets it. */
const WAIT = { timeout: 60_000 };

let dataDir: string;
beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'pennant-lifecycle-'));
});
afterAll(() => rm(dataDir, { recursive: true, force: true }));

interface Running {
  readonly child: ChildProcess;
  readonly base: string;
  output(): string;
}

function run(env: Record<string, string>, args: string[] = []): { child: ChildProcess; output: () => string } {
  const { PATH } = process.env;
  const child = spawn(process.execPath, [PROGRAM, ...args], {
    cwd: dataDir,
    env: {
      ...(PATH !== undefined && { PATH }),
      PORT: '0',
      CONSOLE_PORT: '0',
      SOURCES: 'catalog',
      DATA_DIR: dataDir,
      ...env,
    },
  });
  let text = '';
  child.stdout?.on('data', (chunk: Buffer) => {
    text += chunk.toString();
  });
  child.stderr?.on('data', (chunk: Buffer) => {
    text += chunk.toString();
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  return { child, output: () => text };
}

async function start(env: Record<string, string> = {}): Promise<Running> {
  const { child, output } = run(env);
  await expect.poll(output, WAIT).toMatch(/listens on/);
  const port = /listens on [^:]+:(\d+)/.exec(output())?.[1];
  return { child, base: `http://127.0.0.1:${port}`, output };
}

async function exitCode(child: ChildProcess): Promise<number | null> {
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
  return child.exitCode;
}

describe('the process', () => {
  test('prints three URLs to try, and they work', async () => {
    const { output, base } = await start();
    const urls = output().match(/http:\/\/localhost:\S+/g) ?? [];
    expect(urls).toHaveLength(3);
    for (const url of urls) expect((await fetch(url.replace(/^http:\/\/[^/]+/, base))).status).toBe(200);
  });

  test.each(['SIGTERM', 'SIGINT'] as const)('on %s finishes what it accepted and exits 0', async (signal) => {
    const { child, base } = await start({ RATE_LIMIT: '1000/30', ENCODERS: '1', STOP_TIMEOUT_SECONDS: '60' });
    const url = `${base}/${SAMPLE}/tv.png?width=${signal === 'SIGTERM' ? 21 : 22}`;
    await fetch(`${base}/${SAMPLE}/tv.png?width=20`);
    // The encoder stands still, so that what is accepted is not finished when the signal comes.
    const [encoder = 0] = await childrenOf(child.pid as number);
    process.kill(encoder, 'SIGSTOP');
    const accepted = fetch(url);
    await fetch(`${base}/`);
    child.kill(signal);
    await expect.poll(() => fetch(base).catch(() => 'refused'), WAIT).toBe('refused');
    process.kill(encoder, 'SIGCONT');
    const answer = await accepted;
    expect(answer.status).toBe(200);
    expect((await answer.arrayBuffer()).byteLength).toBeGreaterThan(100);
    expect(await exitCode(child)).toBe(0);
  });

  test('ends at once on a second signal', async () => {
    const { child, base } = await start({ RATE_LIMIT: '1000/30' });
    const slow = Array.from({ length: 20 }, (_, index) =>
      fetch(`${base}/${SAMPLE}/tv.png?width=${2000 + index}`).catch(() => undefined),
    );
    await fetch(`${base}/`);
    child.kill('SIGTERM');
    child.kill('SIGINT');
    expect(await exitCode(child)).toBe(1);
    await Promise.all(slow);
  });

  test('still has records and pictures after a restart', async () => {
    const first = await start();
    const before = await fetch(`${first.base}/${SAMPLE}/mobile.webp`);
    const bytes = Buffer.from(await before.arrayBuffer());
    first.child.kill('SIGTERM');
    expect(await exitCode(first.child)).toBe(0);
    const second = await start();
    const after = await fetch(`${second.base}/${SAMPLE}/mobile.webp`);
    expect(after.headers.get('cache-status')).toMatch(/^pennant; hit/);
    expect(after.headers.get('etag')).toBe(before.headers.get('etag'));
    expect(after.headers.get('last-modified')).toBe(before.headers.get('last-modified'));
    expect(Buffer.from(await after.arrayBuffer()).equals(bytes)).toBe(true);
    const record = await fetch(`${second.base}/api/channel/${SAMPLE}`);
    expect(record.headers.get('cache-status')).toMatch(/^pennant; hit/);
  });

  test('lists every setting that cannot be used and exits 1', async () => {
    const { child, output } = run({
      PORT: 'http',
      URL_FORM: 'long',
      TRUST_PROXY: '0.0.0.0/0',
      RATE_LIMIT: '10',
      BASE_URL: 'https://a.example/path',
    });
    expect(await exitCode(child)).toBe(1);
    for (const variable of ['PORT', 'URL_FORM', 'TRUST_PROXY', 'RATE_LIMIT', 'BASE_URL']) {
      expect(output()).toMatch(new RegExp(`^  ${variable}: must`, 'm'));
    }
    expect(output()).not.toContain('    at ');
  });

  test.each(['1', '::/0'])('refuses TRUST_PROXY=%s', async (value) => {
    const { child, output } = run({ TRUST_PROXY: value });
    expect(await exitCode(child)).toBe(1);
    expect(output()).toContain('TRUST_PROXY: must');
  });

  test('says in one line that its port is taken and exits 1', async () => {
    const other = createServer().listen(0, '127.0.0.1');
    await once(other, 'listening');
    onTestFinished(() => void other.close());
    const address = other.address() as { port: number };
    const { child, output } = run({ PORT: String(address.port), HOST: '127.0.0.1' });
    expect(await exitCode(child)).toBe(1);
    expect(output().trim().split('\n')).toHaveLength(1);
    expect(output()).toContain(String(address.port));
  });

  test('has health, readiness and metrics on the private listener', async () => {
    const probe = createServer().listen(0, '127.0.0.1');
    await once(probe, 'listening');
    const { port } = probe.address() as { port: number };
    probe.close();
    await once(probe, 'close');
    const { base } = await start({ CONSOLE_PORT: String(port) });
    await fetch(`${base}/api/channel/${SAMPLE}`);
    const inside = `http://127.0.0.1:${port}`;
    expect(await (await fetch(`${inside}/healthz`)).json()).toEqual({ status: 'ok' });
    expect(await (await fetch(`${inside}/readyz`)).json()).toEqual({ ready: true, conditions: [] });
    const metrics = await (await fetch(`${inside}/metrics`)).text();
    expect(metrics).toContain('pennant_http_requests_total{route="/api/channel/:identifier",status="200"} 1');
    expect((await fetch(`${base}/metrics`)).status).toBe(404);
  });
});
