import { symlinkSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { createManualClock } from '../../test/helpers/clock.ts';
import { BLOCK_BYTES, shardsOf } from '../../test/helpers/file-store.ts';
import { createTemporaryDirectory } from '../../test/helpers/temporary-directory.ts';
import { createDiskFileStore, type FileStore } from './disk-files.ts';
import { SHARD_COUNT, shardAt } from './file-names.ts';

const [GONE, KEPT] = ['UCgone_________________A', 'UCkept_________________A'];
const IMAGE = Buffer.alloc(1_000, 'image');

function open(directory: string): FileStore {
  const files = createDiskFileStore({
    directory,
    maxBytes: 100_000_000,
    clock: createManualClock(),
    onEvent: () => undefined,
  });
  onTestFinished(() => files.close());
  return files;
}

async function fileNames(directory: string): Promise<string[]> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map(({ name }) => name);
}

test('every file of a channel is erased: originals, images and custom sizes of any process', async () => {
  const directory = await createTemporaryDirectory();
  const [files, other] = [open(directory), open(directory)];
  for (const channelId of [GONE, KEPT]) {
    await files.set(`original/${channelId}/now`, IMAGE, 'plain');
    await files.set(`original/${channelId}/a year ago`, IMAGE, 'plain');
    for (let width = 1; width <= 40; width += 1) await files.set(`image2/${channelId}/now/${width}`, IMAGE, 'custom');
    await other.set(`image2/${channelId}/now/plain`, IMAGE, 'plain');
  }
  expect(await files.erase([GONE])).toEqual({ files: 43, bytes: 43 * BLOCK_BYTES });
  expect(await fileNames(directory)).toHaveLength(43);
  expect(await files.get(`original/${GONE}/now`)).toBeUndefined();
  expect(await other.get(`image2/${GONE}/now/plain`)).toBeUndefined();
  expect(await files.get(`original/${KEPT}/a year ago`)).toEqual(IMAGE);
  expect(files.stats()).toMatchObject({ plainBytes: 2 * BLOCK_BYTES, customBytes: 40 * BLOCK_BYTES });
});

test('a channel is erased without listing the directories of other channels', async () => {
  const directory = await createTemporaryDirectory();
  const files = open(directory);
  for (let width = 1; width <= 100; width += 1) await files.set(`image2/${GONE}/now/${width}`, IMAGE, 'custom');
  const ofChannel = await shardsOf(directory);
  expect(ofChannel).toHaveLength(16);
  for (let number = 0; number < SHARD_COUNT; number += 1) {
    const path = join(directory, shardAt(number));
    // Listing a link to itself fails.
    if (!ofChannel.includes(shardAt(number))) symlinkSync(path, path);
  }
  expect(await files.erase([GONE])).toMatchObject({ files: 100 });
  expect(await fileNames(directory)).toEqual([]);
  await expect(files.erase('all')).rejects.toThrow('ELOOP');
});

test('everything is erased, and new files are stored', async () => {
  const directory = await createTemporaryDirectory();
  const files = open(directory);
  await files.set(`image2/${GONE}/x`, IMAGE, 'plain');
  await files.set(`image2/${KEPT}/x`, IMAGE, 'plain');
  expect(await files.erase('all')).toEqual({ files: 2, bytes: 2 * BLOCK_BYTES });
  expect(await fileNames(directory)).toEqual([]);
  await files.set(`image2/${KEPT}/x`, IMAGE, 'plain');
  expect(await files.get(`image2/${KEPT}/x`)).toEqual(IMAGE);
});
