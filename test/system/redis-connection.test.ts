import { execFileSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { createRedisConnection } from '../../src/lib/redis/connection.ts';
import { createManualClock } from '../helpers/clock.ts';
import { isInstalled } from '../helpers/installed.ts';
import { findRedisServer, type RedisServer, startRedisServer } from '../helpers/redis.ts';
import { createTemporaryDirectory } from '../helpers/temporary-directory.ts';
import { HANG_MS } from '../helpers/wait.ts';

/** A connection with a movable clock: nothing times out and nothing is retried, because no test moves it. */
async function connect(url: string) {
  /** Every change of state, in order. */
  const changes: (string | null)[] = [];
  const connection = await createRedisConnection({
    url,
    onStateChange: (problem) => changes.push(problem),
    // The socket's own time-out uses real time.
    connectTimeoutMs: HANG_MS,
    clock: createManualClock(),
  });
  onTestFinished(() => connection.close());
  const write = () => connection.run((redis) => redis.set('key', 'value', { PX: 60_000 }));
  return { connection, changes, write };
}

describe.skipIf(!findRedisServer())('with a real redis-server', () => {
  let server: RedisServer;
  beforeEach(async () => {
    server = await startRedisServer();
  });
  afterEach(() => server.remove());

  test('a limited number of commands may wait for a response; a further one pauses Redis', async () => {
    const { connection, changes, write } = await connect(server.url);
    server.freeze();
    const waiting = Array.from({ length: 10_001 }, write);
    const results = await Promise.allSettled(waiting);
    server.thaw();
    expect(new Set(results.map(({ status }) => status))).toEqual(new Set(['rejected']));
    expect([connection.stats(), changes]).toEqual([
      { isUsable: false, timeouts: 0, outages: 1 },
      ['The queue is full'],
    ]);
  });

  test('a Unix socket works like a port', async () => {
    const { write } = await connect(`unix://${server.socketPath}?db=1`);
    await write();
    expect(await server.command('DBSIZE')).toBe(0);
    expect(await server.command('INFO', 'keyspace')).toContain('db1:keys=');
  });

  test('a password is used', async () => {
    await server.stop();
    await server.start(['--requirepass', 'topsecret']);
    const { changes, write } = await connect(`redis://:topsecret@127.0.0.1:${server.port}`);
    await write();
    expect(changes).toEqual([]);
  });

  test.skipIf(!isInstalled('openssl', 'TLS to Redis'))(
    'a TLS server is used only if its certificate can be verified',
    async () => {
      const { cert, key } = await createCertificate();
      await server.stop();
      const tls = [
        '--tls-cert-file',
        cert,
        '--tls-key-file',
        key,
        '--tls-ca-cert-file',
        cert,
        '--tls-auth-clients',
        'no',
      ];
      await server.start(['--port', '0', '--tls-port', `${server.port}`, ...tls]);
      const url = `rediss://127.0.0.1:${server.port}`;
      expect((await connect(url)).changes).toEqual([expect.stringContaining('self-signed certificate')]);

      // NODE_EXTRA_CA_CERTS does this at the start of a process.
      const usual = getCACertificates();
      onTestFinished(() => setDefaultCACertificates(usual));
      setDefaultCACertificates([...usual, await readFile(cert, 'utf8')]);
      const trusting = await connect(url);
      await trusting.write();
      expect([trusting.changes, await server.command('EXISTS', 'key')]).toEqual([[], 1]);
    },
  );
});

/** A self-signed certificate for 127.0.0.1. */
async function createCertificate(): Promise<{ cert: string; key: string }> {
  const directory = await createTemporaryDirectory();
  const [cert, key] = [join(directory, 'cert.pem'), join(directory, 'key.pem')];
  const subject = ['-subj', '/CN=127.0.0.1', '-addext', 'subjectAltName=IP:127.0.0.1'];
  const files = ['-keyout', key, '-out', cert];
  const request = ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '1', ...files, ...subject];
  execFileSync('openssl', request, { stdio: 'ignore' });
  return { cert, key };
}
