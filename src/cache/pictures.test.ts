import { expect, onTestFinished, test } from 'vitest';
import { createManualClock } from '../../test/helpers/clock.ts';
import { BLOCK_BYTES } from '../../test/helpers/file-store.ts';
import { measureHeldBytes, memoryTest } from '../../test/helpers/heap.ts';
import { createTemporaryDirectory } from '../../test/helpers/temporary-directory.ts';
import { createDiskFileStore } from './disk-files.ts';
import type { FileStore } from './files.ts';
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
  await expect.poll(() => pictures.stats().disk.entries).toBe(1);
  sharedBytes.clear();
  expect(await pictures.get('key', 'plain')).toEqual(bytes);
  expect(calls).toEqual(['get key']);
});

test('a picture that is made here is shared, unless it has a client’s own size', async () => {
  const sharedBytes = new Map<string, Buffer>();
  const { pictures, calls } = await createInstance(sharedBytes);
  pictures.put('plain', bytes, 'plain');
  pictures.put('custom', bytes, 'custom');
  await expect.poll(() => pictures.stats().disk.entries).toBe(2);
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
  expect(await pictures.eraseChannels(new Set([gone]))).toEqual({ files: 3, bytes: 3 * BLOCK_BYTES });
  for (const key of keysOf(gone)) expect(await pictures.get(key, 'plain')).toBeUndefined();
  expect(await pictures.get(`picture2/${gone}/0123/custom`, 'custom')).toBeUndefined();
  for (const key of keysOf(kept)) expect(await pictures.get(key, 'plain')).toEqual(bytes);
  expect([...sharedBytes.keys()]).toEqual(keysOf(kept));
  expect(await pictures.eraseAll()).toEqual({ files: 2, bytes: 2 * BLOCK_BYTES });
  for (const key of keysOf(kept)) expect(await pictures.get(key, 'plain')).toBeUndefined();
  const { disk, memory, writes } = pictures.stats();
  for (const emptied of [disk, memory, writes]) expect(emptied).toMatchObject({ entries: 0, bytes: 0 });
});

/** A file store whose disk hangs until the test says otherwise. */
function createHangingFiles() {
  const disk = Promise.withResolvers<void>();
  const written: string[] = [];
  const files: FileStore = {
    get: async () => undefined,
    findPath: async () => undefined,
    async set(key) {
      await disk.promise;
      written.push(key);
    },
    eraseChannels: async () => ({ files: 0, bytes: 0 }),
    eraseAll: async () => ({ files: 0, bytes: 0 }),
    stats: () => ({ entries: 0, maxEntries: 0, bytes: 0, maxBytes: 0, plainBytes: 0, customBytes: 0 }),
    async close() {},
  };
  return { files, written, goOn: () => disk.resolve() };
}

test('a disk that hangs does not fill the memory: what is too much is not written', async () => {
  const { files, written, goOn } = createHangingFiles();
  const onStateChange = () => undefined;
  const pictures = createPictureCache({ files, maxMemoryBytes: 0, maxWriteBytes: 10_000, onStateChange });
  for (let number = 0; number < 100; number += 1) pictures.put(`key ${number}`, Buffer.alloc(1_000), 'plain');
  const { writes, memory } = pictures.stats();
  expect(memory).toEqual({ entries: 0, bytes: 0, maxBytes: 0 });
  expect(writes.bytes).toBeGreaterThan(8_000);
  expect(writes.bytes).toBeLessThanOrEqual(10_000);

  goOn();
  await pictures.close();
  expect(written).toHaveLength(writes.entries ?? 0);
  expect(pictures.stats().writes).toMatchObject({ entries: 0, bytes: 0 });
});

memoryTest('pictures in memory count at least what they take there, with their keys', async () => {
  const { files, goOn } = createHangingFiles();
  goOn();
  const pictures = createPictureCache({ files, maxMemoryBytes: 100_000_000, onStateChange: () => undefined });
  // As a reply of Redis comes: a small part of a large buffer.
  const packet = Buffer.alloc(60_000);
  const heldBytes = await measureHeldBytes(async () => {
    for (let number = 0; number < 10_000; number += 1) {
      const part = Buffer.from(packet).subarray(100, 200);
      pictures.put(`picture2/UC${String(number).padStart(22, '0')}/0123456789abcdef/default.avif`, part, 'plain');
    }
    await pictures.close();
  });
  const { entries, bytes = 0 } = pictures.stats().memory;
  expect(entries).toBe(10_000);
  expect(heldBytes).toBeLessThan(bytes);
});
