import { stat } from 'node:fs/promises';
import { setImmediate } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import {
  BLOCK_BYTES,
  bytesOf,
  bytesOnDisk,
  keyOf,
  pathOf,
  SMALL_FILE_BYTES,
  setUpFileStore,
  shardsOf,
} from '../../test/helpers/file-store.ts';

const HOUR_MS = 3_600_000;

describe('the quota', () => {
  it('applies from the first write on, and the least recently used files are evicted first', async () => {
    const { directory, clock, openScanned, countOf } = await setUpFileStore({ maxBytes: 3 * SMALL_FILE_BYTES });
    const files = await openScanned();
    for (const key of ['a', 'b', 'c']) {
      await files.set(keyOf(key), bytesOf(key), 'plain');
      clock.advance(1);
    }
    await files.get(keyOf('a'));
    await files.set(keyOf('d'), bytesOf('d'), 'plain');
    expect(await files.get(keyOf('b'))).toBeUndefined();
    expect(await files.get(keyOf('a'))).toEqual(bytesOf('a'));
    expect(files.stats()).toMatchObject({ entries: 3, bytes: 3 * SMALL_FILE_BYTES, maxBytes: 3 * SMALL_FILE_BYTES });
    expect(await bytesOnDisk(directory)).toBe(3 * SMALL_FILE_BYTES);
    expect(countOf('evicted')).toBe(1);
  });

  it('counts the disk usage of small files and their directories', async () => {
    const { directory, open } = await setUpFileStore({ maxBytes: 400_000 });
    const files = open();
    for (let number = 0; number < 120; number += 1)
      await files.set(keyOf(`key ${number}`), bytesOf(`${number}`, 1), 'plain');
    expect(files.stats().bytes).toBe(await bytesOnDisk(directory));
    expect(files.stats().bytes).toBeGreaterThan(400_000 - SMALL_FILE_BYTES);
    expect(files.stats().bytes).toBeLessThanOrEqual(400_000);
  });

  it('leaves no empty directories', async () => {
    const { directory, open } = await setUpFileStore({ maxBytes: 3 * SMALL_FILE_BYTES });
    const files = open();
    for (let number = 0; number < 20; number += 1) await files.set(keyOf(`key ${number}`), bytesOf('image'), 'plain');
    expect(await shardsOf(directory)).toHaveLength(3);
    await files.erase('all');
    expect(await shardsOf(directory)).toEqual([]);
  });

  it.each([
    ['many channels', (number: number) => keyOf(`${number}`)],
    ['one channel', (number: number) => `image/one/${number}`],
  ])('applies during many concurrent writes of images of %s', async (_, keyAt) => {
    const { directory, open } = await setUpFileStore({ maxBytes: 400_000 });
    const files = open();
    for (let round = 0; round < 10; round += 1) {
      await Promise.all(
        Array.from({ length: 40 }, (_, index) => {
          const number = (round * 40 + index) % 150;
          return files.set(keyAt(number), bytesOf(`${number}`, 500 + number * 100), number % 3 ? 'plain' : 'custom');
        }),
      );
      const { bytes, customBytes } = files.stats();
      expect(bytes).toBeLessThanOrEqual(400_000);
      expect(customBytes).toBeLessThanOrEqual(100_000);
      expect(await bytesOnDisk(directory)).toBe(bytes);
    }
  });

  it('is not exceeded while files are written, each into a new directory', async () => {
    const { open } = await setUpFileStore({ maxBytes: 100 * SMALL_FILE_BYTES });
    const files = open();
    let mostBytes = 0;
    for (let round = 0; round < 20; round += 1) {
      let isWriting = true;
      const writes = Promise.all(
        Array.from({ length: 10 }, (_, index) => files.set(keyOf(`key ${round} ${index}`), bytesOf('image'), 'plain')),
      ).finally(() => {
        isWriting = false;
      });
      while (isWriting) {
        mostBytes = Math.max(mostBytes, files.stats().bytes);
        await setImmediate();
      }
      await writes;
    }
    expect(mostBytes).toBeGreaterThan(90 * SMALL_FILE_BYTES);
    expect(mostBytes).toBeLessThanOrEqual(100 * SMALL_FILE_BYTES);
  });

  it('bounds the number of files as well', async () => {
    const { clock, open } = await setUpFileStore({ maxFiles: 8 });
    const files = open();
    for (let number = 0; number < 12; number += 1) {
      await files.set(keyOf(`key ${number}`), bytesOf('image'), 'plain');
      clock.advance(1);
    }
    expect(files.stats()).toMatchObject({ entries: 8, maxEntries: 8 });
    expect(await files.get(keyOf('key 3'))).toBeUndefined();
    expect(await files.get(keyOf('key 4'))).toBeDefined();
  });

  it.each([
    ['bytes', { maxBytes: 16 * BLOCK_BYTES }],
    ['files', { maxFiles: 16 }],
  ])('gives images of own size at most a quarter of the %s', async (_, bounds) => {
    const { open } = await setUpFileStore(bounds);
    const files = open();
    for (let number = 0; number < 20; number += 1)
      await files.set(keyOf(`custom ${number}`), bytesOf('custom'), 'custom');
    expect(files.stats()).toMatchObject({ entries: 4, plainBytes: 0, customBytes: 4 * BLOCK_BYTES });
    expect(await files.get(keyOf('custom 19'))).toBeDefined();
  });

  it.each([
    ['bytes', { maxBytes: 8 * SMALL_FILE_BYTES }],
    ['files', { maxFiles: 8 }],
  ])('evicts images of own size first, and never evicts others for them: %s', async (_, bounds) => {
    const { open } = await setUpFileStore(bounds);
    const files = open();
    await files.set(keyOf('custom'), bytesOf('custom'), 'custom');
    for (let number = 0; number < 8; number += 1) await files.set(keyOf(`plain ${number}`), bytesOf('plain'), 'plain');
    expect(files.stats()).toMatchObject({ plainBytes: 8 * BLOCK_BYTES, customBytes: 0 });
    await files.set(keyOf('custom'), bytesOf('custom'), 'custom');
    expect(files.stats()).toMatchObject({ plainBytes: 8 * BLOCK_BYTES, customBytes: 0 });
  });

  it('does not store a file larger than the quota', async () => {
    const { open } = await setUpFileStore({ maxBytes: 8 * BLOCK_BYTES });
    const files = open();
    await files.set(keyOf('small'), bytesOf('small'), 'plain');
    await files.set(keyOf('large'), bytesOf('large', 7 * BLOCK_BYTES + 1), 'plain');
    await files.set(keyOf('large custom'), bytesOf('large', 2 * BLOCK_BYTES + 1), 'custom');
    expect(files.stats()).toMatchObject({ plainBytes: BLOCK_BYTES, customBytes: 0, entries: 1 });
  });

  it.each([0, 1, BLOCK_BYTES, SMALL_FILE_BYTES - 1])('of %i bytes stores nothing', async (maxBytes) => {
    const { directory, open } = await setUpFileStore({ maxBytes });
    const files = open();
    await files.set(keyOf('key'), bytesOf('image', 1), 'plain');
    await files.set(keyOf('custom'), bytesOf('image', 1), 'custom');
    expect(await files.get(keyOf('key'))).toBeUndefined();
    expect(await bytesOnDisk(directory)).toBe(0);
  });
});

describe('the time of last use', () => {
  it('counts the files of earlier runs, and orders them by the hour of their last use', async () => {
    const { directory, clock, openScanned } = await setUpFileStore();
    const before = await openScanned();
    for (const key of ['a', 'b', 'c', 'd']) {
      await before.set(keyOf(key), bytesOf(key), 'plain');
      clock.advance(HOUR_MS);
    }
    await before.get(keyOf('a'));
    await before.close();

    const after = await openScanned(2 * SMALL_FILE_BYTES);
    expect(after.stats()).toMatchObject({ plainBytes: 2 * BLOCK_BYTES, customBytes: 0, entries: 2 });
    expect(await bytesOnDisk(directory)).toBe(2 * SMALL_FILE_BYTES);
    expect(await after.get(keyOf('a'))).toBeDefined();
    expect(await after.get(keyOf('d'))).toBeDefined();
  });

  it('reduces a directory with too many files to those used most recently', async () => {
    const { clock, openScanned } = await setUpFileStore();
    const before = await openScanned();
    for (let number = 0; number < 60; number += 1) {
      await before.set(keyOf(`key ${number}`), bytesOf(`${number}`), 'plain');
      clock.advance(HOUR_MS);
    }
    await before.close();

    const after = await openScanned(1_000_000, 10);
    expect(after.stats()).toMatchObject({ entries: 10, maxEntries: 10 });
    for (let number = 0; number < 60; number += 1) {
      expect((await after.get(keyOf(`key ${number}`))) !== undefined, `key ${number}`).toBe(number >= 50);
    }
  });

  it('keeps the order of use while the clock is wrong and after it is set back', async () => {
    const { clock, openScanned } = await setUpFileStore({ maxFiles: 3 });
    const files = await openScanned();
    await files.set(keyOf('a'), bytesOf('a'), 'plain');
    clock.jumpWallClock(72 * HOUR_MS);
    await files.set(keyOf('b'), bytesOf('b'), 'plain');
    clock.jumpWallClock(-72 * HOUR_MS);
    clock.advance(1);
    await files.set(keyOf('c'), bytesOf('c'), 'plain');
    clock.advance(1);
    await files.set(keyOf('d'), bytesOf('d'), 'plain');
    await files.set(keyOf('e'), bytesOf('e'), 'plain');
    const left = await Promise.all(['a', 'b', 'c', 'd', 'e'].map((key) => files.get(keyOf(key))));
    expect(left.map((bytes) => bytes !== undefined)).toEqual([false, false, true, true, true]);
  });

  it('does not keep a file for days because a wrong clock dated it', async () => {
    const { clock, openScanned } = await setUpFileStore();
    const before = await openScanned();
    clock.jumpWallClock(72 * HOUR_MS);
    await before.set(keyOf('from the future'), bytesOf('image'), 'plain');
    await before.close();
    clock.jumpWallClock(-72 * HOUR_MS);
    await (await openScanned()).close();
    clock.advance(2 * HOUR_MS);
    const next = await openScanned(1_000_000, 1);
    await next.set(keyOf('new'), bytesOf('image'), 'plain');
    expect(await next.get(keyOf('from the future'))).toBeUndefined();
    expect(await next.get(keyOf('new'))).toBeDefined();
  });

  it('records a use on disk once an hour in a store that evicts nothing, also for a file in constant use', async () => {
    const { clock, open } = await setUpFileStore();
    const files = open();
    clock.advance(32 * HOUR_MS);
    await files.set(keyOf('key'), bytesOf('image'), 'plain');
    const path = await pathOf(files, keyOf('key'));
    const writtenAtMs = clock.now();
    const modified = [];
    for (let step = 0; step < 4; step += 1) {
      clock.advance(HOUR_MS / 2);
      await files.get(keyOf('key'));
      modified.push((await stat(path)).mtimeMs - writtenAtMs);
    }
    expect(modified).toEqual([0, HOUR_MS, HOUR_MS, 2 * HOUR_MS]);
  });

  it('records a use on disk also when the file is dated in the future', async () => {
    const { clock, open } = await setUpFileStore();
    const files = open();
    clock.jumpWallClock(72 * HOUR_MS);
    await files.set(keyOf('key'), bytesOf('image'), 'plain');
    clock.jumpWallClock(-72 * HOUR_MS);
    await files.get(keyOf('key'));
    expect((await stat(await pathOf(files, keyOf('key')))).mtimeMs).toBe(clock.now());
  });
});
