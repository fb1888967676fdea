import { appendFile, copyFile, mkdir, readdir, readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  BLOCK_BYTES,
  bytesOf,
  bytesOnDisk,
  pathOf,
  SMALL_FILE_BYTES,
  setUpFileStore,
} from '../../test/helpers/file-store.ts';

describe('the file store', () => {
  it('returns the stored bytes, and the path of a file with the same bytes', async () => {
    const { open } = await setUpFileStore();
    const files = open();
    await files.set('key', bytesOf('image'), 'plain');
    expect(await files.get('key')).toEqual(bytesOf('image'));
    expect(await readFile(await pathOf(files, 'key'))).toEqual(bytesOf('image'));
    expect(await files.get('other')).toBeUndefined();
    expect(await files.findPath('other')).toBeUndefined();
  });

  it('replaces a file completely, also one of another class', async () => {
    const { directory, open } = await setUpFileStore();
    const files = open();
    await files.set('key', bytesOf('first', 500), 'custom');
    await files.set('key', bytesOf('second', 700), 'plain');
    expect(await files.get('key')).toEqual(bytesOf('second', 700));
    expect(files.stats()).toMatchObject({ plainBytes: BLOCK_BYTES, customBytes: 0, entries: 1 });
    expect(await bytesOnDisk(directory)).toBe(SMALL_FILE_BYTES);
  });

  it('stores no empty image, and removes the image that it should replace', async () => {
    const { open } = await setUpFileStore();
    const files = open();
    await files.set('key', bytesOf('image'), 'plain');
    await files.set('key', Buffer.alloc(0), 'plain');
    expect(await files.get('key')).toBeUndefined();
    expect(files.stats().entries).toBe(0);
  });

  it('checks large images in several steps', async () => {
    const { open } = await setUpFileStore({ maxBytes: 20_000_000 });
    const files = open();
    const large = bytesOf('large image', 9_000_001);
    await files.set('key', large, 'plain');
    expect((await files.get('key'))?.equals(large)).toBe(true);
  });

  it('finds the files of an earlier run before they are counted', async () => {
    const { open, countOf } = await setUpFileStore();
    const before = open();
    await before.set('key', bytesOf('image'), 'plain');
    await before.close();
    const scans = countOf('scanned');
    const after = open();
    expect(await after.get('key')).toEqual(bytesOf('image'));
    await expect.poll(() => countOf('scanned')).toBe(scans + 1);
    expect(after.stats()).toMatchObject({ plainBytes: BLOCK_BYTES, customBytes: 0, entries: 1 });
  });
});

describe('a damaged or foreign file', () => {
  it.each<[string, (path: string) => Promise<void>]>([
    ['cut', (path) => truncate(path, 999)],
    ['empty', (path) => truncate(path, 0)],
    ['longer', (path) => appendFile(path, 'x')],
    ['changed', (path) => writeFile(path, bytesOf('another'))],
    ['gone', (path) => rm(path)],
  ])('is never returned when it is %s, by this run or the next', async (_case, harm) => {
    const { open, directory } = await setUpFileStore();
    const files = open();
    await files.set('key', bytesOf('image'), 'plain');
    await harm(await pathOf(files, 'key'));
    expect(await files.get('key')).toBeUndefined();
    expect(await files.findPath('key')).toBeUndefined();
    expect(await bytesOnDisk(directory)).toBe(0);

    await files.set('key', bytesOf('image'), 'plain');
    expect(files.stats()).toMatchObject({ entries: 1, bytes: SMALL_FILE_BYTES });
    await harm(await pathOf(files, 'key'));
    await files.close();
    expect(await open().get('key')).toBeUndefined();
  });

  it.each<[string, (path: string) => Promise<void>]>([
    ['cut', (path) => truncate(path, 999)],
    ['empty', (path) => truncate(path, 0)],
  ])('has no path when it is %s', async (_case, harm) => {
    const { open } = await setUpFileStore();
    const files = open();
    await files.set('key', bytesOf('image'), 'plain');
    await harm(await pathOf(files, 'key'));
    expect(await files.findPath('key')).toBeUndefined();
  });

  it('is never returned when two files of the same length were swapped', async () => {
    const { open } = await setUpFileStore();
    const files = open();
    await files.set('mine', bytesOf('mine'), 'plain');
    await files.set('yours', bytesOf('yours'), 'plain');
    await copyFile(await pathOf(files, 'yours'), await pathOf(files, 'mine'));
    expect(await files.get('mine')).toBeUndefined();
    expect(await files.get('yours')).toEqual(bytesOf('yours'));
  });

  it('is neither changed nor counted when its name is foreign', async () => {
    const { directory, openScanned } = await setUpFileStore();
    await mkdir(join(directory, 'abc'));
    await writeFile(join(directory, 'abc', 'holiday.jpg'), 'foreign');
    await writeFile(join(directory, 'README'), 'foreign');
    const files = await openScanned();
    expect(files.stats().entries).toBe(0);
    expect(await readFile(join(directory, 'abc', 'holiday.jpg'), 'utf8')).toBe('foreign');
  });
});

describe('leftovers of killed processes', () => {
  it('are removed at the start; the temporary file of a running process is kept', async () => {
    const { directory, openScanned } = await setUpFileStore();
    const temporary = join(directory, 'tmp');
    await mkdir(temporary);
    const ended = `${2 ** 30}-0123456789ab-1`;
    const earlierWithSameNumber = `${process.pid}-0123456789ab-1`;
    const running = `${process.ppid}-0123456789ab-1`;
    for (const name of [ended, earlierWithSameNumber, running]) await writeFile(join(temporary, name), 'cut');
    await openScanned();
    expect(await readdir(temporary)).toEqual([running]);
  });

  it('include the older of two contents of one key', async () => {
    const { directory, open, openScanned } = await setUpFileStore();
    const [left, right] = [open(), open()];
    await left.get('key');
    await Promise.all([
      left.set('key', bytesOf('left', 100), 'plain'),
      right.set('key', bytesOf('right', 200), 'plain'),
    ]);
    await left.close();
    await right.close();
    const files = await openScanned();
    expect(files.stats().entries).toBe(1);
    expect(await bytesOnDisk(directory)).toBe(files.stats().bytes);
  });
});
