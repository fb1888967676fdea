import { PassThrough, Writable } from 'node:stream';
import { expect, test } from 'vitest';
import { inCurrentEpoch } from '../../test/helpers/current-epoch.ts';
import { setUpImages, storedRowsIn } from '../../test/helpers/disk-images.ts';
import { startFakeUpstream } from '../../test/helpers/fake-upstream.ts';
import { runInProcess } from '../../test/helpers/run-command.ts';
import { createTemporaryDirectory } from '../../test/helpers/temporary-directory.ts';
import { channelKey, originalKey } from '../store/keys.ts';
import { createSqliteStore, databasePath } from '../store/sqlite.ts';
import { cacheCommands } from './cache.ts';

const HOUR_MS = 3_600_000;

/** Runs a command while no service is running. */
function run(args: readonly string[], dataDir: string) {
  return runInProcess(cacheCommands, args, { env: { DATA_DIR: dataDir } });
}

/** Runs `cache clear` as on a terminal with the line as input. */
async function clearOnTerminal(directory: string, line: string) {
  let asked = '';
  const stdin = Object.assign(new PassThrough(), { isTTY: true });
  const stderr = new Writable({
    write(chunk, _encoding, done) {
      asked += String(chunk);
      if (asked.endsWith('[y/N] ')) stdin.write(`${line}\n`);
      done();
    },
  });
  const { exitCode } = await runInProcess(cacheCommands, ['clear'], {
    env: { DATA_DIR: directory },
    stdin: () => stdin,
    stderr,
  });
  return { exitCode, asked };
}

test.each([
  ['y', 0, 0],
  ['Yes', 0, 0],
  ['', 1, 1],
  ['n', 1, 1],
  ['yonder', 1, 1],
])('on a terminal "%s" decides whether the cache is cleared', async (line, exitCode, imagesLeft) => {
  const directory = await createTemporaryDirectory();
  const images = (await setUpImages({ dataDir: directory })).open();
  await images.set('image2/UC/x', Buffer.from('image'));
  await images.close();
  const ended = await clearOnTerminal(directory, line);
  expect(ended.asked).toContain(`Empty the cache in ${directory}? [y/N]`);
  expect(ended.exitCode).toBe(exitCode);
  expect(storedRowsIn(directory)).toHaveLength(imagesLeft);
});

test('the statistics have the entries of each kind and the time of its oldest entry', async () => {
  const dataDir = await createTemporaryDirectory();
  const path = databasePath(dataDir);
  const store = inCurrentEpoch(createSqliteStore({ path, maxBytes: 1_000_000, onEvent: () => undefined }));
  const firstMs = Date.UTC(2026, 0, 1);
  const [first, second] = ['UCfirst________________A', 'UCsecond_______________A'];
  const keys = [
    [channelKey(second), '{"value":{}}'],
    [channelKey(first), '{"value":{}}'],
    [channelKey('UCabsent_______________A'), '{"absent":"no such channel"}'],
    [originalKey(second, 'banner'), '{}'],
    [originalKey(first, 'banner'), '{}'],
    [originalKey(first, 'avatar'), '{}'],
  ] as const;
  for (const [hour, [key, value]] of keys.entries()) {
    await store.set(key, { value, storedAtMs: firstMs + hour * HOUR_MS }, 1_000 * HOUR_MS);
  }
  await store.close();
  const { exitCode, stdout } = await run(['stats', '--json'], dataDir);
  expect(exitCode).toBe(0);
  expect(JSON.parse(stdout).store.kinds).toEqual({
    records: { entries: 2, bytes: bytesOf(keys.slice(0, 2)), oldest: '2026-01-01T00:00:00.000Z' },
    negatives: { entries: 1, bytes: bytesOf(keys.slice(2, 3)), oldest: '2026-01-01T02:00:00.000Z' },
    imageDetails: { entries: 3, bytes: bytesOf(keys.slice(3)), oldest: '2026-01-01T03:00:00.000Z' },
  });
  expect((await run(['stats'], dataDir)).stdout).toMatch(/image details +3 .* oldest 2026-01-01T03:00:00Z/);
});

test('a purge reports what the service has removed of each kind', async () => {
  const channelId = 'UCgone_________________A';
  const entries = { channel: 1, name: 2, search: 1, original: 1, published: 1 };
  const purged = { channelId, entries, images: 3, imageBytes: 3 * 2 ** 20 };
  const service = await startFakeUpstream((_request, response) => response.end(JSON.stringify(purged)));
  const { exitCode, stdout } = await runInProcess(cacheCommands, ['purge', channelId], {
    env: { DATA_DIR: await createTemporaryDirectory(), CONSOLE_PORT: new URL(service.origin).port },
  });
  await service.close();
  expect([exitCode, stdout]).toEqual([
    0,
    `Purged ${channelId}: 1 record, 2 names, 1 search, 2 details, 3 images (3.0 MiB).\n`,
  ]);
});

function bytesOf(entries: readonly (readonly [string, string])[]): number {
  return Buffer.byteLength(entries.flat().join(''));
}

test.each(['', ' '])('an empty --data-dir (%j) does not mean the default directory', async (empty) => {
  const dataDir = await createTemporaryDirectory();
  expect(await run(['stats', '--data-dir', empty], dataDir)).toEqual({
    exitCode: 2,
    stdout: '',
    stderr: '--data-dir is empty.\nUsage: pennant cache stats [--json]\n',
  });
});
