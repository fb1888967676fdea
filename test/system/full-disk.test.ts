import { spawnSync } from 'node:child_process';
import { mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, type TestContext } from 'vitest';
import { bytesOf, imageOf, MIB, originalOf, setUpImages } from '../helpers/disk-images.ts';
import { createTemporaryDirectory } from '../helpers/temporary-directory.ts';

const [ONE, OTHER] = ['UCone__________________A', 'UCother________________A'];
const KEY = imageOf(ONE, 'tv');

describe('a disk that is full', () => {
  it('can be read, refuses images, and lets the images of a channel be erased', async (context) => {
    const dataDir = await mountSmallDisk(context);
    const { open } = await setUpImages({ dataDir, maxBytes: 4 * MIB });
    const images = open();
    for (let number = 0; number < 80; number += 1) await images.set(imageOf(ONE, `${number}`), bytesOf('x', 100_000));
    const { entries } = images.usage();
    await writeFile(join(dataDir, 'filler'), Buffer.alloc(8 * MIB)).catch(() => undefined);
    await expect(images.set(originalOf(OTHER), bytesOf('original', MIB))).rejects.toThrow(/full|ENOSPC/);
    expect(await images.get(imageOf(ONE, '79'))).toEqual(bytesOf('x', 100_000));
    expect(entries).toBeGreaterThan(15);
    expect((await images.erase([ONE])).images).toBeGreaterThan(10);
    expect(images.usage().entries).toBe(0);
    await images.set(KEY, bytesOf('image'));
    expect(images.usage().entries).toBe(1);
  });

  it('that has room for an original but not for its row keeps neither', async (context) => {
    const dataDir = await mountSmallDisk(context);
    const { open, files } = await setUpImages({ dataDir });
    const images = open();
    // An empty log must grow for the row.
    await images.erase([ONE]);
    await mkdir(files);
    await writeFile(join(dataDir, 'room'), Buffer.alloc(32_768));
    await writeFile(join(dataDir, 'filler'), Buffer.alloc(8 * MIB)).catch(() => undefined);
    await rm(join(dataDir, 'room'));
    await expect(images.set(originalOf(ONE), bytesOf('original', 20_000))).rejects.toThrow('full');
    expect(await readdir(files)).toEqual([]);
  });

  it('that has no room even for an erasure makes it fail, and all images are still there', async (context) => {
    const dataDir = await mountSmallDisk(context);
    const { open } = await setUpImages({ dataDir });
    const images = open();
    for (let number = 0; number < 10; number += 1) await images.set(imageOf(ONE, `${number}`), bytesOf('x', 100_000));
    await writeFile(join(dataDir, 'filler'), Buffer.alloc(8 * MIB)).catch(() => undefined);
    await expect(images.erase([ONE])).rejects.toThrow('full');
    expect(await images.get(imageOf(ONE, '3'))).toEqual(bytesOf('x', 100_000));
    await rm(join(dataDir, 'filler'));
    expect(await images.erase([ONE])).toMatchObject({ images: 10 });
  });
});

async function mountSmallDisk(context: TestContext): Promise<string> {
  const directory = await createTemporaryDirectory();
  const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=6m', 'none', directory]);
  if (mounted.status !== 0) return context.skip('only an administrator can mount a small disk');
  onTestFinished(() => void spawnSync('umount', ['--lazy', directory]));
  return directory;
}
