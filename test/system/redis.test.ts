import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { PROGRAM } from '../helpers/program.ts';
import { findRedisServer, type RedisServer, startRedisServer } from '../helpers/redis.ts';
import { createTemporaryDirectory } from '../helpers/temporary-directory.ts';

interface Service {
  readonly child: ChildProcess;
  output(): string;
  /** Log lines about Redis, oldest first. */
  redisLines(): { level: number; msg: string }[];
}

async function startService(redisUrl: string, env: Record<string, string> = {}): Promise<Service> {
  const dataDir = await createTemporaryDirectory();
  const { PATH = '' } = process.env;
  const child = spawn(process.execPath, [PROGRAM], {
    cwd: dataDir,
    env: { PATH, PORT: '0', CONSOLE_PORT: '0', SOURCES: 'catalog', DATA_DIR: dataDir, REDIS_URL: redisUrl, ...env },
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  let text = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk: Buffer) => {
      text += chunk.toString();
    });
  }
  return {
    child,
    output: () => text,
    redisLines: () =>
      text
        .split('\n')
        .filter((line) => line.includes('"part":"redis"'))
        .map((line) => JSON.parse(line)),
  };
}

async function untilListening(service: Service): Promise<string> {
  await expect.poll(service.output).toMatch(/listens on/);
  return `http://127.0.0.1:${/listens on [^:]+:(\d+)/.exec(service.output())?.[1]}`;
}

describe('a REDIS_URL that is none', () => {
  test('ends the start with 1 and what is expected, without the password', async () => {
    const service = await startService('redis://user:topsecret@cache/first');
    const [code] = await once(service.child, 'exit');
    expect(code).toBe(1);
    expect(service.output()).toMatch(/^ {2}REDIS_URL: must be redis:\/\//m);
    expect(service.output()).not.toContain('topsecret');
  });
});

describe.skipIf(!findRedisServer())('the process with a real redis-server', () => {
  let server: RedisServer;
  beforeEach(async () => {
    server = await startRedisServer();
  });
  afterEach(() => server.remove());

  test('says once that Redis is frozen and once that it works again, and serves all along', async () => {
    const service = await startService(server.url);
    const base = await untilListening(service);
    server.freeze();
    const answers = await Promise.all(Array.from({ length: 8 }, () => fetch(`${base}/`)));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    await expect.poll(() => service.redisLines().length).toBe(1);
    await new Promise((resolve) => setTimeout(resolve, 2_500));
    server.thaw();
    await expect.poll(() => service.redisLines().at(-1)?.msg).toBe('redis works again');
    expect(service.redisLines().map(({ level }) => level)).toEqual([40, 30]);
    expect(service.redisLines()[0]?.msg).toBe('redis: not used (no answer within 40 ms)');
  });

  test('starts with a wrong password, says so, and never shows it', async () => {
    await server.stop();
    await server.start(['--requirepass', 'another']);
    const service = await startService(`redis://:topsecret@127.0.0.1:${server.port}`, { LOG_LEVEL: 'trace' });
    const base = await untilListening(service);
    expect((await fetch(`${base}/api/channel/UCPennantSample00000001A`)).status).toBe(200);
    expect(service.redisLines()[0]?.msg).toContain('WRONGPASS');
    expect(service.output()).not.toContain('topsecret');
  });

  test('ends in order while Redis is frozen', async () => {
    const service = await startService(server.url);
    const base = await untilListening(service);
    server.freeze();
    await fetch(`${base}/UCPennantSample00000001A/avatar`);
    service.child.kill('SIGTERM');
    const [code] = await once(service.child, 'exit');
    expect(code).toBe(0);
  });

  test('speaks TLS to a server whose certificate it can check, and to no other', async () => {
    const certificates = await createCertificates();
    await server.stop();
    const tls = ['--tls-cert-file', certificates.cert, '--tls-key-file', certificates.key, '--tls-ca-cert-file'];
    await server.start([
      '--port',
      '0',
      '--tls-port',
      `${server.port}`,
      ...tls,
      certificates.cert,
      '--tls-auth-clients',
      'no',
    ]);
    const url = `rediss://127.0.0.1:${server.port}`;

    const trusting = await startService(url, { NODE_EXTRA_CA_CERTS: certificates.cert });
    await fetch(`${await untilListening(trusting)}/`);
    expect(await server.command('KEYS', 'pennant:limit*')).toHaveLength(1);
    expect(trusting.redisLines()).toEqual([]);

    const doubting = await startService(url);
    await untilListening(doubting);
    expect(doubting.redisLines()[0]?.msg).toContain('self-signed certificate');
  });
});

/** A certificate for 127.0.0.1 that has signed itself. */
async function createCertificates(): Promise<{ cert: string; key: string }> {
  const directory = await createTemporaryDirectory();
  const [cert, key] = [join(directory, 'cert.pem'), join(directory, 'key.pem')];
  const subject = ['-subj', '/CN=127.0.0.1', '-addext', 'subjectAltName=IP:127.0.0.1'];
  const files = ['-keyout', key, '-out', cert];
  execFileSync('openssl', ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '1', ...files, ...subject], {
    stdio: 'ignore',
  });
  return { cert, key };
}
