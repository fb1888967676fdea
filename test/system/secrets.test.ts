import { readdir, readFile } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { SETTINGS } from '../../src/config/settings.ts';
import { startFakeUpstream } from '../helpers/fake-upstream.ts';
import { runCommand, startServiceForTest } from '../helpers/process.ts';
import { findRedisServer, startRedisServer } from '../helpers/redis.ts';
import { createTemporaryDirectory } from '../helpers/temporary-directory.ts';

const API_KEY = 'key-that-nobody-may-read';
const PASSWORD = 'password-that-nobody-may-read';

/** The plain form, and the forms in which a URL, a header or a body might contain it. */
const FORMS = [API_KEY, PASSWORD].flatMap((secret) => [
  secret,
  Buffer.from(secret).toString('hex'),
  // The first and last characters depend on the text around it.
  Buffer.from(secret).toString('base64').slice(3, -4),
]);

function expectNoSecretIn(what: string, written: string): void {
  for (const form of FORMS) expect(written.includes(form), `${form} in ${what}:\n${written}`).toBe(false);
}

/**
 * An upstream that repeats the request in its responses, as some do in errors. Every response under a path is another
 * failure. Those that open a breaker come last.
 */
function createTalkativeUpstream() {
  const statuses = [500, 200, 302, 400, 403, 429];
  const calls = new Map<string, number>();
  return (request: IncomingMessage, response: ServerResponse) => {
    const [path = ''] = (request.url ?? '').split('?');
    const call = calls.get(path) ?? 0;
    calls.set(path, call + 1);
    const status = statuses[call % statuses.length] ?? 500;
    const told = JSON.stringify({ error: { message: `refused: ${request.url} ${JSON.stringify(request.headers)}` } });
    const location = `https://elsewhere.example/?key=${request.headers['x-goog-api-key']}`;
    response.writeHead(status, { 'content-type': 'application/json', location }).end(told);
  };
}

async function contentsBelow(directory: string): Promise<string> {
  const paths = await readdir(directory, { recursive: true, withFileTypes: true });
  const files = paths.filter((path) => path.isFile());
  const texts = files.map((file) => readFile(join(file.parentPath, file.name), 'latin1'));
  return (await Promise.all(texts)).join('\n');
}

test('this file looks for every secret setting', () => {
  const secrets = Object.values(SETTINGS).filter(({ isSecret }) => isSecret);
  expect(secrets.map(({ env }) => env)).toEqual(['YOUTUBE_API_KEY', 'REDIS_URL']);
});

test.skipIf(!findRedisServer())('no secret is in a log, a response or a file while everything fails', async () => {
  const upstream = await startFakeUpstream(createTalkativeUpstream());
  onTestFinished(() => upstream.close());
  const redis = await startRedisServer(['--requirepass', 'another']);
  onTestFinished(() => redis.remove());
  const directory = await createTemporaryDirectory();
  const service = await startServiceForTest({
    directory,
    env: {
      SOURCES: 'youtube-data-api,youtube',
      YOUTUBE_API_KEY: API_KEY,
      YOUTUBE_ORIGIN: upstream.origin,
      // Redis refuses the password, and its error says so.
      REDIS_URL: `redis://somebody:${PASSWORD}@127.0.0.1:${redis.port}/0`,
      LOG_LEVEL: 'debug',
      ACCESS_LOG: 'on',
    },
  });

  const outside = ['/api/channel/lighthouse?type=handle', '/api/search?q=light', '/UCreplayLighthouse000001/tv', '/'];
  const inside = ['/', '/state.json', '/metrics', '/readyz', '/healthz'];
  for (let round = 0; round < 6; round += 1) {
    for (const url of [...outside.map((path) => service.base + path), ...inside.map((path) => service.inside + path)]) {
      const response = await fetch(url);
      expectNoSecretIn(url, `${JSON.stringify([...response.headers])}${await response.text()}`);
    }
  }
  await redis.stop();
  expectNoSecretIn('a response', await (await fetch(`${service.base}/api/channel/quarry?type=handle`)).text());
  service.child.kill('SIGTERM');
  expect(await service.ended).toBe(0);

  expect(service.output()).toContain('source failed');
  expect(service.output()).toContain('"condition":"redis"');
  expectNoSecretIn('the log', service.output());
  expectNoSecretIn('the data directory', await contentsBelow(directory));
});

test('no secret is in the output of a failed start or command', async () => {
  const upstream = await startFakeUpstream(createTalkativeUpstream());
  onTestFinished(() => upstream.close());
  const wrong = {
    REDIS_URL: `redis://somebody:${PASSWORD}@nowhere/first`,
    YOUTUBE_API_KEY: API_KEY,
    PORT: 'none',
  };
  const failing = {
    YOUTUBE_API_KEY: API_KEY,
    SOURCES: 'youtube-data-api',
    YOUTUBE_ORIGIN: upstream.origin,
  };
  for (const [args, env, expected] of [
    [['serve'], wrong, /REDIS_URL: /],
    [['settings'], wrong, /REDIS_URL: /],
    [['add', '@lighthouse'], failing, /lighthouse/],
    [['doctor', '@lighthouse'], failing, /lighthouse/],
  ] as const) {
    const { stdout, stderr } = await runCommand(args, { directory: await createTemporaryDirectory(), env });
    expect(stdout + stderr).toMatch(expected);
    expectNoSecretIn(args.join(' '), stdout + stderr);
  }
});
