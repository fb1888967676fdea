import { expect, onTestFinished, test } from 'vitest';
import { createManualClock } from '../../test/helpers/clock.ts';
import { createTemporaryDirectory } from '../../test/helpers/temporary-directory.ts';
import { createDiskFileStore } from './disk-files.ts';
import { createPictureCache, type PictureCache } from './pictures.ts';
import type { SharedPictures } from './shared-pictures.ts';

interface Instance {
  readonly pictures: PictureCache;
  /** What it has asked the shared pictures for, or given them. */
  readonly calls: string[];
}

/** One instance, with a disk of its own, over what all instances share. */
async function createInstance(sharedBytes: Map<string, Buffer>): Promise<Instance> {
  const calls: string[] = [];
  const shared: SharedPictures = {
    async get(key) {
      calls.push(`get ${key}`);
      return sharedBytes.get(key);
    },
    async set(key, bytes) {
      calls.push(`set ${key}`);
      sharedBytes.set(key, bytes);
    },
    async delete(key) {
      sharedBytes.delete(key);
    },
  };
  const files = createDiskFileStore({
    directory: await createTemporaryDirectory(),
    maxBytes: 1_000_000,
    clock: createManualClock(),
    onEvent: () => undefined,
  });
  // As good as no memory: what is read comes from the disk or from the others.
  const pictures = createPictureCache({ files, shared, maxMemoryBytes: 1, onStateChange: () => undefined });
  onTestFinished(() => pictures.close());
  return { pictures, calls };
}

const bytes = Buffer.from('picture');

test('a picture that another instance has made is fetched once, and from then on it is here', async () => {
  const sharedBytes = new Map([['key', bytes]]);
  const { pictures, calls } = await createInstance(sharedBytes);
  expect(await pictures.has('key', 'plain')).toBe(true);
  await expect.poll(() => pictures.stats().files).toBe(1);
  sharedBytes.clear();
  expect(await pictures.get('key', 'plain')).toEqual(bytes);
  expect(calls).toEqual(['get key']);
});

test('a picture that is made here is shared, unless it has a client’s own size', async () => {
  const sharedBytes = new Map<string, Buffer>();
  const { pictures, calls } = await createInstance(sharedBytes);
  pictures.put('plain', bytes, 'plain');
  pictures.put('custom', bytes, 'custom');
  await expect.poll(() => pictures.stats().files).toBe(2);
  expect(await pictures.get('another custom', 'custom')).toBeUndefined();
  expect(await pictures.has('another custom', 'custom')).toBe(false);
  expect(calls).toEqual(['set plain']);
});
