import { spawnSync } from 'node:child_process';
import { readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it, onTestFinished, type TestContext } from 'vitest';
import { bytesOf, MIB, originalOf, setUpImages } from '../helpers/images.ts';
import { createTemporaryDirectory } from '../helpers/temporary-directory.ts';

const CHANNEL = 'UCone__________________A';

it('a full disk can be read, images are dropped, and an erasure fails and says so until there is room', async (context) => {
  const dataDir = await mountSmallDisk(context);
  const { open, originals } = await setUpImages({ dataDir });
  const images = await open();
  const small = bytesOf('small');
  await images.putOriginal(originalOf(CHANNEL, small), small);
  for (let number = 0; number < 10; number += 1) images.put(CHANNEL, `${number}`, bytesOf('x', 100_000));
  await writeFile(join(dataDir, 'filler'), Buffer.alloc(8 * MIB)).catch(() => undefined);

  for (let number = 10; number < 20; number += 1) images.put(CHANNEL, `${number}`, bytesOf('x', 500_000));
  expect(images.get('19')).toBeUndefined();
  const original = bytesOf('original', MIB);
  expect(await images.putOriginal(originalOf(CHANNEL, original), original)).toBeUndefined();
  expect(await readdir(originals)).toHaveLength(1);
  expect(images.get('3')).toEqual(bytesOf('x', 100_000));
  await expect(images.erase([CHANNEL])).rejects.toThrow('full');

  await rm(join(dataDir, 'filler'));
  expect(await images.erase([CHANNEL])).toBeGreaterThan(0);
  images.put(CHANNEL, 'later', bytesOf('image'));
  expect(images.get('later')).toEqual(bytesOf('image'));
});

async function mountSmallDisk(context: TestContext): Promise<string> {
  const directory = await createTemporaryDirectory();
  const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=6m', 'none', directory]);
  if (mounted.status !== 0) return context.skip('only an administrator can mount a small disk');
  onTestFinished(() => void spawnSync('umount', ['--lazy', directory]));
  return directory;
}
