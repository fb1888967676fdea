import { readdir, rm, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createManualClock } from '../../test/helpers/clock.ts';
import {
  bytesOf,
  bytesOnDisk,
  keyOf,
  SMALL_FILE_BYTES,
  setUpFileStore,
  shardsOf,
} from '../../test/helpers/file-store.ts';
import { createTemporaryDirectory } from '../../test/helpers/temporary-directory.ts';
import { createDiskFileStore } from './disk-files.ts';

const HOUR_MS = 3_600_000;
const FILES = 12;
const [GONE, KEPT] = ['UCgone_________________A', 'UCkept_________________A'];
const KEYS = Array.from({ length: FILES }, (_, number) => `image2/${number % 2 ? KEPT : GONE}/x/${number}`);

/** A store that has counted one directory of an earlier run, and counts the others when the test says so. */
async function setUpUnfinishedScan(options: { maxBytes: number }, leftovers: readonly string[] = []) {
  const { directory, clock, open } = await setUpFileStore();
  const before = open();
  for (const key of KEYS) {
    await before.set(key, bytesOf(key), 'plain');
    clock.advance(HOUR_MS);
  }
  await before.close();
  for (const name of leftovers) await writeFile(join(directory, 'tmp', name), 'cut');

  const now = clock.now();
  const paused = Promise.withResolvers<void>();
  const scanned = Promise.withResolvers<void>();
  const timers: (() => void)[] = [];
  let isReleased = false;
  let monotonicMs = 0;
  const files = createDiskFileStore({
    directory,
    ...options,
    clock: {
      ...createManualClock(now),
      monotonic() {
        monotonicMs += 1;
        return monotonicMs;
      },
      after(_ms, callback) {
        if (isReleased) setImmediate(callback);
        else timers.push(callback);
        paused.resolve();
        return () => undefined;
      },
    },
    onEvent: (event) => event.kind === 'scanned' && scanned.resolve(),
  });
  onTestFinished(() => files.close());
  await paused.promise;

  return {
    directory,
    files,
    finishScan() {
      isReleased = true;
      for (const callback of timers) callback();
      return scanned.promise;
    },
  };
}

async function storedOf(files: { findPath(key: string): Promise<string | undefined> }): Promise<boolean[]> {
  return Promise.all(KEYS.map(async (key) => (await files.findPath(key)) !== undefined));
}

describe('while the files of earlier runs are counted', () => {
  it('all of them are found, and new ones are stored', async () => {
    const { files, finishScan } = await setUpUnfinishedScan({ maxBytes: 1_000_000 });
    expect(files.stats().entries).toBe(1);
    for (const key of KEYS) expect(await files.get(key)).toEqual(bytesOf(key));
    await files.set('new', bytesOf('new'), 'plain');
    expect(await files.get('new')).toEqual(bytesOf('new'));
    await finishScan();
    expect(files.stats().entries).toBe(FILES + 1);
  });

  it('a full store evicts the least recently used of all files, counted or not', async () => {
    const { directory, files, finishScan } = await setUpUnfinishedScan({ maxBytes: 6 * SMALL_FILE_BYTES });
    for (let number = 0; number < 6; number += 1) await files.set(`new ${number}`, bytesOf('new'), 'plain');
    const [oldest] = await storedOf(files);
    expect(oldest).toBe(false);
    await finishScan();
    expect(files.stats().bytes).toBeLessThanOrEqual(6 * SMALL_FILE_BYTES);
    expect(await bytesOnDisk(directory)).toBe(files.stats().bytes);
    for (let number = 0; number < 6; number += 1) expect(await files.get(`new ${number}`)).toBeDefined();
    expect(await storedOf(files)).toEqual(KEYS.map(() => false));
  });

  it('all files of a channel can be erased', async () => {
    const { files, finishScan } = await setUpUnfinishedScan({ maxBytes: 1_000_000 });
    expect(await files.erase([GONE])).toMatchObject({ files: FILES / 2 });
    await finishScan();
    expect(files.stats().entries).toBe(FILES / 2);
    expect(await storedOf(files)).toEqual(KEYS.map((_, number) => number % 2 === 1));
  });

  it('the temporary files of killed processes are already removed', async () => {
    const { directory } = await setUpUnfinishedScan({ maxBytes: 1_000_000 }, [`${2 ** 30}-0123456789ab-1`]);
    expect(await readdir(join(directory, 'tmp'))).toEqual([]);
  });

  it('the store can be closed', async () => {
    const { files } = await setUpUnfinishedScan({ maxBytes: 1_000_000 });
    await files.close();
    expect(files.stats().entries).toBe(1);
  });
});

it('files that were removed from outside are not evicted again', async () => {
  const { directory, openScanned, countOf } = await setUpFileStore({ maxBytes: 20 * SMALL_FILE_BYTES });
  const files = await openScanned();
  for (let number = 0; number < 20; number += 1) await files.set(keyOf(`key ${number}`), bytesOf('image'), 'plain');
  for (const shard of (await shardsOf(directory)).slice(0, 10)) await rm(join(directory, shard), { recursive: true });
  const left = await bytesOnDisk(directory);
  await files.set(keyOf('new'), bytesOf('new'), 'plain');
  expect(await bytesOnDisk(directory)).toBeGreaterThanOrEqual(left);
  expect(countOf('evicted')).toBe(0);
});

it('a file that was used after it was chosen for eviction is kept', async () => {
  const directory = await createTemporaryDirectory();
  const { clock, openScanned } = await setUpFileStore({ directory, maxFiles: 10 });
  const files = await openScanned();
  for (let number = 0; number < 10; number += 1) {
    await files.set(keyOf(`key ${number}`), bytesOf('image'), 'plain');
    clock.advance(1_000);
  }
  // The first eviction also chooses the next files.
  await files.set(keyOf('new'), bytesOf('new'), 'plain');
  const path = (await files.findPath(keyOf('key 1'))) as string;
  await utimes(path, clock.now() / 1_000, clock.now() / 1_000);
  clock.advance(1_000);
  await files.set(keyOf('newer'), bytesOf('new'), 'plain');
  expect(await files.get(keyOf('key 1'))).toBeDefined();
  expect(await files.get(keyOf('key 2'))).toBeUndefined();
  expect((await readdir(directory, { recursive: true })).filter((name) => name.endsWith('.plain'))).toHaveLength(10);
});
