import { execFileSync } from 'node:child_process';
import { mkdir, readdir, rm, rmdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { bytesOf, pathOf, SMALL_FILE_BYTES, setUpFileStore } from '../../test/helpers/file-store.ts';
import { createTemporaryDirectory } from '../../test/helpers/temporary-directory.ts';

describe('two stores on one directory', () => {
  it('find each other’s files and tolerate their removal', async () => {
    const { open } = await setUpFileStore();
    const [left, right] = [open(), open()];
    await left.set('key', bytesOf('image'), 'plain');
    expect(await right.get('key')).toEqual(bytesOf('image'));
    await left.set('key', Buffer.alloc(0), 'plain');
    expect(await right.get('key')).toBeUndefined();
    expect(await right.findPath('key')).toBeUndefined();
    expect(right.stats().entries).toBe(0);
  });

  it('work together under many writes and removals', async () => {
    const { open } = await setUpFileStore({ maxBytes: 160_000 });
    const stores = [open(), open()];
    for (let round = 0; round < 20; round += 1) {
      await Promise.all(
        stores.flatMap((files, side) =>
          Array.from({ length: 10 }, async (_, index) => {
            const key = `key ${(round * 7 + index * (side + 1)) % 60}`;
            await files.set(key, bytesOf(key, 900), 'plain');
            const found = await files.get(key);
            if (found !== undefined) expect(found).toEqual(bytesOf(key, 900));
          }),
        ),
      );
    }
  });
});

describe('a file that cannot be removed', () => {
  it('is counted until it has been removed', async () => {
    const { openScanned } = await setUpFileStore({ maxBytes: 3 * SMALL_FILE_BYTES });
    const files = await openScanned();
    for (const key of ['a', 'b', 'c']) await files.set(key, bytesOf(key), 'plain');
    const { bytes } = files.stats();
    const path = await pathOf(files, 'a');
    for (const key of ['b', 'c']) await files.get(key);
    await rm(path);
    // Root may remove every file, but cannot remove a directory as a file.
    await mkdir(path);
    await expect(files.set('d', bytesOf('d'), 'plain')).rejects.toThrow(/An image cannot be stored in /);
    expect(files.stats()).toMatchObject({ entries: 3, bytes });

    await rmdir(path);
    await files.set('d', bytesOf('d'), 'plain');
    expect(await files.get('d')).toEqual(bytesOf('d'));
    expect(files.stats()).toMatchObject({ entries: 3, bytes });
  });
});

describe('a disk that cannot be written to', () => {
  it('makes writes fail with a clear error, and works again when the disk is writable', async () => {
    const obstacle = join(await createTemporaryDirectory(), 'data');
    await writeFile(obstacle, 'a file where the directory should be');
    const { open } = await setUpFileStore({ directory: join(obstacle, 'images') });
    const files = open();
    await expect(files.set('key', bytesOf('image'), 'plain')).rejects.toThrow(/An image cannot be stored in /);
    expect(await files.get('key')).toBeUndefined();
    expect(files.stats()).toMatchObject({ entries: 0, bytes: 0 });
    await rm(obstacle);
    await files.set('key', bytesOf('image'), 'plain');
    expect(await files.get('key')).toEqual(bytesOf('image'));
  });

  it('creates its directory again when somebody deletes it', async () => {
    const { directory, open } = await setUpFileStore();
    const files = open();
    await files.set('key', bytesOf('image'), 'plain');
    await rm(directory, { recursive: true });
    expect(await files.get('key')).toBeUndefined();
    await files.set('key', bytesOf('image'), 'plain');
    expect(await files.get('key')).toEqual(bytesOf('image'));
  });

  it('can still be read when it is full or read-only', async (context) => {
    const directory = await createTemporaryDirectory();
    if (!mountSmallDisk(directory)) return context.skip('mounting a small disk takes more rights than this user has');
    const { open } = await setUpFileStore({ directory, maxBytes: 2_000_000 });
    const files = open();
    await files.set('key', bytesOf('image', 100_000), 'plain');
    await expect(files.set('large', bytesOf('large', 900_000), 'plain')).rejects.toThrow('the disk is full');
    expect(await files.get('key')).toEqual(bytesOf('image', 100_000));
    expect(await readdir(join(directory, 'tmp'))).toEqual([]);

    execFileSync('mount', ['-o', 'remount,ro', directory]);
    await expect(files.set('new', bytesOf('new'), 'plain')).rejects.toThrow('the disk is read-only');
    expect(await files.get('key')).toEqual(bytesOf('image', 100_000));

    execFileSync('mount', ['-o', 'remount,rw', directory]);
    await files.set('new', bytesOf('new'), 'plain');
    expect(await files.get('new')).toEqual(bytesOf('new'));
  });
});

function mountSmallDisk(directory: string): boolean {
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=512k', 'none', directory], { stdio: 'ignore' });
  } catch {
    return false;
  }
  onTestFinished(() => {
    execFileSync('umount', ['--lazy', directory]);
  });
  return true;
}
