import { chmod, cp, mkdir, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { beforeAll, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { EPOCH_KEY } from '../../src/store/redis.ts';
import { storedRowsIn } from '../helpers/disk-images.ts';
import { respondWithStatus } from '../helpers/fake-upstream.ts';
import {
  type CommandOptions,
  type EndedCommand,
  runCommand,
  type ServiceProcess,
  startService,
  startServiceForTest,
} from '../helpers/process.ts';
import { findRedisServer, startRedisServer } from '../helpers/redis.ts';
import { type ReplayServer, startReplayServer, youtubeSettings } from '../helpers/replay-server.ts';
import { createTemporaryDirectory } from '../helpers/temporary-directory.ts';
import { drawTestCard } from '../helpers/test-card.ts';
import { WAIT } from '../helpers/wait.ts';

const [CHANNEL, OTHER] = ['UCreplayLighthouse000001', 'UCreplayHarbour000000002'];
/** Text from the channel's description. */
const WORDS = 'Light over dark water since 1811';
const WAYS = [
  '/api/channel/bellrocklight?type=handle',
  `/${CHANNEL}/tv.webp`,
  `/${CHANNEL}/avatar?width=77`,
  '/api/search?q=light',
  `/${OTHER}/mobile.webp`,
  '/user/nobody-at-all',
];

let replay: ReplayServer;
/** As a service leaves it that was asked in every way. */
let filledDir: string;
beforeAll(async () => {
  const [banner, avatar] = await Promise.all(
    [320, 180].map((width) => drawTestCard({ width, height: 180 }).png().toBuffer()),
  );
  const png = (bytes: Buffer | undefined) => respondWithStatus(200, { 'content-type': 'image/png' }, bytes);
  replay = await startReplayServer({
    image: (request, response) => png(request.url?.includes('avatar') ? avatar : banner)(request, response),
  });
  directory = await mkdtemp(join(tmpdir(), 'pennant-test-'));
  filledDir = join(directory, 'data');
  const service = await startService(serviceOptions());
  await askInEveryWay(service, filledDir);
  await stop(service);
  const filled = directory;
  return async () => {
    await replay.close();
    await rm(filled, { recursive: true, force: true });
  };
});

let directory: string;
let dataDir: string;
beforeEach(async () => {
  directory = await createTemporaryDirectory();
  dataDir = join(directory, 'data');
});

/** Copies what a stopped service has left. */
async function fill(): Promise<void> {
  await cp(filledDir, dataDir, { recursive: true });
}

function serviceOptions(env: Record<string, string> = {}): CommandOptions {
  return { directory, env: { ...youtubeSettings(replay.origin), SOURCES: 'catalog,youtube', ...env } };
}

async function askInEveryWay(service: ServiceProcess, storedIn: string): Promise<void> {
  for (const way of WAYS) {
    const response = await fetch(service.base + way);
    await response.arrayBuffer();
    expect([200, 404], way).toContain(response.status);
  }
  // Images are written after the response has been sent.
  await vi.waitFor(() => expect(storedRowsIn(storedIn)).toHaveLength(6), WAIT);
}

async function serve(env: Record<string, string> = {}): Promise<ServiceProcess> {
  return startServiceForTest(serviceOptions(env));
}

/** Its stores and its memory hold the channel and another one. */
async function serveFilled(env: Record<string, string> = {}): Promise<ServiceProcess> {
  await fill();
  const service = await serve(env);
  await askInEveryWay(service, dataDir);
  return service;
}

async function stop(service: ServiceProcess): Promise<void> {
  service.child.kill('SIGTERM');
  expect(await service.ended).toBe(0);
}

/** Runs `pennant cache`. With `service`, the command finds that running service. */
function cache(
  args: readonly string[],
  env: Record<string, string> = {},
  service?: ServiceProcess,
): Promise<EndedCommand> {
  const consolePort = service === undefined ? '0' : new URL(service.inside).port;
  return runCommand(['cache', ...args], { directory, env: { DATA_DIR: dataDir, CONSOLE_PORT: consolePort, ...env } });
}

function removedFrom(where: string): string {
  return `Removed from ${where}. A running service that uses it empties its memory within a second.\n`;
}

async function filesIn(path: string): Promise<string[]> {
  const entries = await readdir(join(dataDir, path), { recursive: true, withFileTypes: true }).catch(() => []);
  return entries.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name));
}

async function storedText(): Promise<string> {
  const names = (await readdir(dataDir)).filter((name) => name.startsWith('cache.db'));
  return (await Promise.all(names.map((name) => readFile(join(dataDir, name), 'latin1')))).join('');
}

async function outcomeOf({ base }: ServiceProcess, path: string): Promise<string | undefined> {
  const { headers } = await fetch(base + path);
  return headers.get('cache-status')?.split('; ')[1];
}

test.skipIf(process.getuid?.() !== 0)('a DATA_DIR that only another user may open is reported, not empty', async () => {
  await chmod(directory, 0o755);
  await mkdir(dataDir, { recursive: true });
  await chmod(dataDir, 0o700);
  const env = { DATA_DIR: dataDir, CONSOLE_PORT: '0' };
  for (const args of [['stats'], ['purge', CHANNEL], ['purge', '@handle'], ['clear', '--yes']]) {
    const ended = await runCommand(['cache', ...args], { directory, env, uid: 65_534 });
    expect(ended, args.join(' ')).toEqual({ exitCode: 1, stdout: '', stderr: expect.stringMatching(/^EACCES: .*\n$/) });
  }
});

describe('cache stats', () => {
  test('counts stored entries while the service runs and after it has stopped, and leaves no files', async () => {
    const service = await serveFilled();
    const running = await cache(['stats', '--json']);
    expect(running).toMatchObject({ exitCode: 0, stderr: '' });
    const { store, images } = JSON.parse(running.stdout);
    expect(store).toMatchObject({
      where: join(dataDir, 'cache.db'),
      maxBytes: 512 * 2 ** 20,
      kinds: {
        records: { entries: 2, bytes: expect.any(Number), oldest: expect.stringMatching(/^\d{4}-\d\d-\d\dT/) },
        names: { entries: 2 },
        negatives: { entries: 1 },
        searches: { entries: 1 },
        imageDetails: { entries: 3 },
      },
    });
    expect(images).toMatchObject({
      where: join(dataDir, 'images.db'),
      maxBytes: 2 * 2 ** 30,
      kinds: { originals: { entries: 3 }, variants: { entries: 2 }, ownSizes: { entries: 1 } },
    });
    expect(images.bytes).toBeGreaterThan(10_000);

    await stop(service);
    const before = (await filesIn('.')).sort();
    const { stdout } = await cache(['stats']);
    expect(stdout).toMatch(/cache\.db: \d+\.\d KiB of 512\.0 MiB\n/);
    expect(stdout).toMatch(/^ {2}records {10,}2 +\d.* oldest \d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/m);
    expect(stdout).toMatch(/^ {2}own sizes +1 /m);
    expect((await filesIn('.')).sort()).toEqual(before);
  });

  test('reports that nothing is stored, and that a directory does not exist', async () => {
    expect(await cache(['stats', '--data-dir', directory])).toEqual({
      exitCode: 0,
      stdout: `${directory}/cache.db: 0 bytes of 512.0 MiB\n\n${directory}/images.db: 0 bytes of 2.0 GiB\n`,
      stderr: '',
    });
    for (const args of [['stats'], ['purge', CHANNEL], ['clear', '--yes']]) {
      const ended = await cache(args);
      expect(ended).toMatchObject({ exitCode: 1, stdout: '' });
      expect(ended.stderr).toMatch(/^There is no directory .*data: set DATA_DIR.*\n$/);
    }
    expect(await readdir(directory)).toEqual([]);
  });
});

describe('cache purge', () => {
  test('removes the channel from the running service’s memory and files', async () => {
    const service = await serveFilled();
    const ended = await cache(['purge', '@bellrocklight'], {}, service);
    expect(ended).toMatchObject({ exitCode: 0, stderr: '' });
    expect(ended.stdout).toMatch(
      new RegExp(`^Purged ${CHANNEL}: 1 record, 1 name, 1 search, 3 details, 4 images \\(.* KiB\\)\\.\n$`),
    );
    expect(await storedText()).not.toContain(WORDS);
    expect(storedRowsIn(dataDir)).toHaveLength(2);
    expect(await outcomeOf(service, `/${OTHER}/mobile.webp`)).toBe('hit');
    for (const way of WAYS.slice(0, 4)) expect([way, await outcomeOf(service, way)]).not.toContain('hit');
  });

  test('without a running service removes it from the stores, and says where', async () => {
    await fill();
    const ended = await cache(['purge', CHANNEL]);
    expect(ended).toMatchObject({
      exitCode: 0,
      stdout: expect.stringMatching(`^Purged ${CHANNEL}: `),
      stderr: removedFrom(join(dataDir, 'cache.db')),
    });
    expect(await storedText()).not.toContain(WORDS);
    expect(storedRowsIn(dataDir)).toHaveLength(2);
    const restarted = await serve();
    expect(await outcomeOf(restarted, `/channel/${CHANNEL}`)).toBe('fwd=uri-miss');
    expect(await outcomeOf(restarted, `/channel/${OTHER}`)).toBe('hit');
  });

  test('removes it from the memory of a service that it cannot ask, too', async () => {
    const service = await serveFilled();
    const host = { CONSOLE_HOST: '127.0.0.2' };
    expect(await cache(['purge', CHANNEL], host, service)).toMatchObject({ exitCode: 0 });
    await expect.poll(() => outcomeOf(service, `/channel/${CHANNEL}`)).toBe('fwd=uri-miss');
    expect(await outcomeOf(service, `/channel/${OTHER}`)).toBe('hit');
  });

  test('of an ID succeeds where nothing was ever stored', async () => {
    await mkdir(dataDir);
    const ended = await cache(['purge', CHANNEL]);
    expect(ended).toMatchObject({ exitCode: 0, stdout: `Nothing was stored of ${CHANNEL}.\n` });
    expect(await readdir(dataDir)).toEqual([]);
  });

  test('finds nothing for a name that was never requested, and refuses an invalid name', async () => {
    await fill();
    expect(await cache(['purge', '@nobody'])).toEqual({
      exitCode: 1,
      stdout: '',
      stderr: `Nothing is stored under the name @nobody (${join(dataDir, 'cache.db')}). Purge the channel by its ID.\n`,
    });
    expect(await cache(['purge', 'some words'])).toMatchObject({ exitCode: 2, stdout: '' });
    expect(await cache(['purge'])).toMatchObject({ exitCode: 2, stdout: '' });
    expect(await storedText()).toContain(WORDS);
  });
});

describe('cache clear', () => {
  test('removes everything except the catalog, also from a running service’s memory', async () => {
    const service = await serveFilled();
    expect(await cache(['clear', '--yes'], {}, service)).toEqual({
      exitCode: 0,
      stdout: 'The cache is empty.\n',
      stderr: '',
    });
    expect(storedRowsIn(dataDir)).toEqual([]);
    for (const way of WAYS.slice(0, 5)) expect([way, await outcomeOf(service, way)]).not.toContain('hit');
    // The service stores new entries afterwards.
    await expect.poll(() => storedRowsIn(dataDir)).not.toEqual([]);
  });

  test('requires --yes when there is no terminal', async () => {
    await fill();
    const ended = await cache(['clear']);
    expect(ended).toMatchObject({ exitCode: 2, stdout: '', stderr: expect.stringContaining('--yes') });
    expect(storedRowsIn(dataDir)).toHaveLength(6);
    expect(await cache(['clear', '--yes'])).toMatchObject({ exitCode: 0 });
    expect(storedRowsIn(dataDir)).toEqual([]);
    expect(await storedText()).not.toContain(WORDS);
    expect((await readdir(dataDir)).filter((name) => name.startsWith('catalog')).length).toBeGreaterThan(1);
  });

  test('removes a cache that was written by another version', async () => {
    await fill();
    const db = new DatabaseSync(join(dataDir, 'cache.db'));
    db.exec('PRAGMA user_version = 999');
    db.close();
    const ended = await cache(['stats']);
    expect(ended).toMatchObject({ exitCode: 1, stdout: '' });
    expect(ended.stderr).toMatch(/another version of Pennant \(schema 999/);
    expect(await cache(['clear', '--yes'])).toMatchObject({ exitCode: 0 });
    expect(await cache(['stats'])).toMatchObject({ exitCode: 0 });
  });
});

describe.skipIf(!findRedisServer())('with Redis', () => {
  test('counts, purges and clears the shared Redis, and keeps the rate limit', async () => {
    const redis = await startRedisServer();
    onTestFinished(() => redis.remove());
    const env = { REDIS_URL: redis.url };
    const service = await serve({ ...env, RATE_LIMIT_OVERRIDES: '', RATE_LIMIT: '1000/600' });
    await askInEveryWay(service, dataDir);
    await stop(service);
    const counted = JSON.parse((await cache(['stats', '--json'], env)).stdout);
    expect(counted.store).toMatchObject({
      where: 'Redis',
      maxBytes: null,
      kinds: { records: { entries: 2 }, searches: { entries: 1 }, imageDetails: { entries: 3 } },
    });

    // Without the service's settings, as if the address were in a credential.
    for (const command of [['purge', CHANNEL], ['stats']]) {
      expect(await cache(command)).toMatchObject({
        exitCode: 1,
        stdout: '',
        stderr: expect.stringContaining('stores in Redis, and this command has cache.db. The command did nothing.'),
      });
    }
    const purged = await cache(['purge', CHANNEL], env);
    expect(purged).toMatchObject({ exitCode: 0, stderr: removedFrom('Redis') });
    const keys = async () => ((await redis.command('KEYS', '*')) as string[]).join('\n');
    expect(await keys()).not.toContain(CHANNEL);
    expect(await keys()).toContain(OTHER);
    expect(await cache(['clear', '--yes'], env)).toMatchObject({ exitCode: 0, stderr: removedFrom('Redis') });
    const left = (await keys()).split('\n').filter((key) => !['pennant:probe', EPOCH_KEY].includes(key));
    expect(left).toEqual([expect.stringMatching(/^pennant:limit1:/)]);
    await redis.stop();
    const failed = await cache(['purge', CHANNEL], env);
    expect(failed).toMatchObject({ exitCode: 1, stdout: '' });
    expect(failed.stderr).toMatch(
      /^Redis cannot be used \(connect ECONNREFUSED [\d.:]+\)\. Not removed: .*\. Try again when Redis works\.\n$/,
    );
    expect(await cache(['stats'], env)).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('ECONNREFUSED') });
  });

  test.each([
    [['stats'], 'Redis', ''],
    [['clear', '--yes'], 'The cache is empty.', removedFrom('Redis')],
  ])('waits for a Redis that pauses for a second or two: cache %s', async (args, printed, stderr) => {
    const redis = await startRedisServer();
    onTestFinished(() => redis.remove());
    await mkdir(dataDir);
    await redis.command('CLIENT', 'PAUSE', '2000');
    expect(await cache(args, { REDIS_URL: redis.url })).toMatchObject({
      exitCode: 0,
      stdout: expect.stringContaining(printed),
      stderr,
    });
  });
});
