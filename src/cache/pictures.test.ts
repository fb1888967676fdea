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
async function createInstance(
  sharedBytes: Map<string, Buffer>,
  // As good as no memory: what is read comes from the disk or from the others.
  { maxMemoryBytes = 1 }: { maxMemoryBytes?: number } = {},
): Promise<Instance> {
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
    async eraseChannels(channelIds) {
      for (const key of sharedBytes.keys()) if (channelIds.has(key.split('/')[1] ?? '')) sharedBytes.delete(key);
    },
    async eraseAll() {
      sharedBytes.clear();
    },
  };
  const files = createDiskFileStore({
    directory: await createTemporaryDirectory(),
    maxBytes: 1_000_000,
    clock: createManualClock(),
    onEvent: () => undefined,
  });
  const pictures = createPictureCache({ files, shared, maxMemoryBytes, onStateChange: () => undefined });
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

test('a channel’s pictures are erased from memory, disk and what is shared, also while they are written', async () => {
  const sharedBytes = new Map<string, Buffer>();
  const { pictures } = await createInstance(sharedBytes, { maxMemoryBytes: 1_000_000 });
  const [gone, kept] = ['UCgone_________________A', 'UCkept_________________A'];
  const keysOf = (channelId: string) => [`original/${channelId}/0123`, `picture2/${channelId}/0123/0,0,1,1/1x1/7.avif`];
  for (const key of [...keysOf(gone), ...keysOf(kept)]) pictures.put(key, bytes, 'plain');
  pictures.put(`picture2/${gone}/0123/custom`, bytes, 'custom');
  expect(await pictures.eraseChannels(new Set([gone]))).toEqual({ files: 3, bytes: 3 * bytes.length });
  for (const key of keysOf(gone)) expect(await pictures.get(key, 'plain')).toBeUndefined();
  expect(await pictures.get(`picture2/${gone}/0123/custom`, 'custom')).toBeUndefined();
  for (const key of keysOf(kept)) expect(await pictures.get(key, 'plain')).toEqual(bytes);
  expect([...sharedBytes.keys()]).toEqual(keysOf(kept));
  expect(await pictures.eraseAll()).toEqual({ files: 2, bytes: 2 * bytes.length });
  for (const key of keysOf(kept)) expect(await pictures.get(key, 'plain')).toBeUndefined();
  expect(pictures.stats()).toEqual({ files: 0, plainBytes: 0, customBytes: 0, memoryBytes: 0 });
});
