import { expect, onTestFinished, test } from 'vitest';
import { createManualClock } from '../../test/helpers/clock.ts';
import { BLOCK_BYTES } from '../../test/helpers/file-store.ts';
import { measureHeldBytes, memoryTest } from '../../test/helpers/heap.ts';
import { createTestRuntime } from '../../test/helpers/runtime.ts';
import { createTemporaryDirectory } from '../../test/helpers/temporary-directory.ts';
import { MAX_SIDE_PX } from '../domain/variants.ts';
import type { Epochs } from '../lib/epoch.ts';
import { asWork } from '../lib/work.ts';
import { EVERYTHING, removalOf } from '../store/removal.ts';
import { createDiskFileStore, type FileStore } from './disk-files.ts';
import { createImageStore, type ImageStore } from './images.ts';

interface Instance {
  readonly images: ImageStore;
  readonly epochs: Epochs;
}

/** A store with its own disk. */
async function createInstance(maxMemoryBytes: number): Promise<Instance> {
  const files = createDiskFileStore({
    directory: await createTemporaryDirectory(),
    maxBytes: 1_000_000,
    clock: createManualClock(),
    onEvent: () => undefined,
  });
  const runtime = createTestRuntime();
  const images = createImageStore({ files, maxMemoryBytes, runtime });
  onTestFinished(() => images.close());
  return { images, epochs: runtime.epochs };
}

const bytes = Buffer.from('image');

test('images of custom sizes use at most a quarter of the memory', async () => {
  const maxMemoryBytes = 100_000;
  const { images } = await createInstance(maxMemoryBytes);
  const put = (fileClass: 'plain' | 'custom', count: number) => {
    for (let number = 0; number < count; number += 1) {
      images.put(`image2/UC/${fileClass} ${number}`, Buffer.alloc(1_000), fileClass);
    }
  };
  put('plain', 20);
  const { bytes: plainBytes = 0 } = images.stats().memory;
  put('custom', 200);
  const { bytes: allBytes = 0 } = images.stats().memory;
  expect(allBytes - plainBytes).toBeGreaterThan(0.2 * maxMemoryBytes);
  expect(allBytes - plainBytes).toBeLessThanOrEqual(0.25 * maxMemoryBytes);
  put('plain', 200);
  expect(images.stats().memory.bytes).toBeGreaterThan(0.9 * maxMemoryBytes);
  expect(images.stats().memory.bytes).toBeLessThanOrEqual(maxMemoryBytes);
});

test('the largest image is written', async () => {
  const files = createDiskFileStore({
    directory: await createTemporaryDirectory(),
    maxBytes: 1_000_000_000,
    clock: createManualClock(),
    onEvent: () => undefined,
  });
  const images = createImageStore({ files, maxMemoryBytes: 1_000, runtime: createTestRuntime() });
  // Incompressible rows of a PNG with a filter byte each, in deflate blocks that are stored as they are, and some metadata.
  const rows = MAX_SIDE_PX * (4 * MAX_SIDE_PX + 1);
  images.put('largest', Buffer.alloc(rows + 5 * Math.ceil(rows / 16_383) + 1_000), 'plain');
  await images.close();
  expect(images.stats().disk.entries).toBe(1);
});

test('a load that ends after the store was closed writes no file', async () => {
  const { images } = await createInstance(1_000_000);
  images.put('before', bytes, 'plain');
  await images.close();
  images.put('after', bytes, 'plain');
  expect(images.stats().writes.entries).toBe(0);
  expect(images.stats().disk.entries).toBe(1);
});

const [GONE, KEPT] = ['UCgone_________________A', 'UCkept_________________A'];
const keysOf = (channelId: string) => [`original/${channelId}/0123`, `image2/${channelId}/0123/0,0,1,1/1x1/7.avif`];

test('a channel’s images are erased from memory and disk, also while they are written', async () => {
  const { images, epochs } = await createInstance(1_000_000);
  for (const key of [...keysOf(GONE), ...keysOf(KEPT)]) images.put(key, bytes, 'custom');
  await expect.poll(() => images.stats().disk.entries).toBe(4);
  const [key = ''] = keysOf(GONE);
  images.put(`${key}4567`, bytes, 'custom');
  epochs.next('purge');
  expect(await images.erase(removalOf([GONE]))).toEqual({ files: 2, bytes: 2 * BLOCK_BYTES });
  for (const gone of [...keysOf(GONE), `${key}4567`]) expect(await images.get(gone, 'custom')).toBeUndefined();
  for (const kept of keysOf(KEPT)) expect(await images.get(kept, 'custom')).toEqual(bytes);
  epochs.next('purge');
  expect(await images.erase(EVERYTHING)).toEqual({ files: 2, bytes: 2 * BLOCK_BYTES });
  for (const kept of keysOf(KEPT)) expect(await images.get(kept, 'custom')).toBeUndefined();
  const { disk, memory, writes } = images.stats();
  for (const emptied of [disk, memory, writes]) expect(emptied).toMatchObject({ entries: 0, bytes: 0 });
});

test('an image from work of an earlier epoch is not stored, and one from later work is', async () => {
  const { images, epochs } = await createInstance(1_000_000);
  const [key = ''] = keysOf(GONE);
  await asWork(epochs.current(), async () => {
    epochs.next('purge');
    images.put(key, bytes, 'plain');
  });
  expect(await images.get(key, 'plain')).toBeUndefined();
  images.put(key, bytes, 'plain');
  expect(await images.get(key, 'plain')).toEqual(bytes);
  await expect.poll(() => images.stats().disk.entries).toBe(1);
});

/** A file store whose next read waits for the test. */
function createSlowFiles(): FileStore & { readonly read: PromiseWithResolvers<Buffer> } {
  const read = Promise.withResolvers<Buffer>();
  return {
    read,
    get: () => read.promise,
    findPath: async () => '/path',
    set: async () => undefined,
    erase: async () => ({ files: 0, bytes: 0 }),
    stats: () => ({ entries: 0, maxEntries: 0, bytes: 0, maxBytes: 0, plainBytes: 0, customBytes: 0 }),
    close: async () => undefined,
  };
}

test('an image that is stored during its lookup is found', async () => {
  const files = { ...createSlowFiles(), get: () => lookUp.promise };
  const lookUp = Promise.withResolvers<undefined>();
  const images = createImageStore({
    files,
    maxMemoryBytes: 1_000_000,
    runtime: createTestRuntime(),
  });
  const found = images.get('key', 'plain');
  images.put('key', bytes, 'plain');
  lookUp.resolve(undefined);
  expect(await found).toEqual(bytes);
});

test('an image that was being read when the epoch ended is not kept', async () => {
  const files = createSlowFiles();
  const runtime = createTestRuntime();
  const images = createImageStore({ files, maxMemoryBytes: 1_000_000, runtime });
  const [key = ''] = keysOf(GONE);
  const reading = images.get(key, 'plain');
  runtime.epochs.next('purge');
  files.read.resolve(bytes);
  await reading;
  expect(images.stats().memory.bytes).toBe(0);
});

/** A file store whose disk hangs until the test releases it. */
function createHangingFiles() {
  const disk = Promise.withResolvers<void>();
  const written: string[] = [];
  const files: FileStore = {
    get: async () => undefined,
    findPath: async () => undefined,
    async set(key, content) {
      await disk.promise;
      written.push(`${key}: ${content.toString('latin1')}`);
    },
    erase: async () => ({ files: 0, bytes: 0 }),
    stats: () => ({ entries: 0, maxEntries: 0, bytes: 0, maxBytes: 0, plainBytes: 0, customBytes: 0 }),
    async close() {},
  };
  return { files, written, goOn: () => disk.resolve() };
}

test('a disk that hangs does not fill the memory: surplus images are not written', async () => {
  const { files, written, goOn } = createHangingFiles();
  const images = createImageStore({
    files,
    maxMemoryBytes: 0,
    maxWriteBytes: 10_000,
    runtime: createTestRuntime(),
  });
  for (let number = 0; number < 100; number += 1) images.put(`key ${number}`, Buffer.alloc(1_000), 'plain');
  const { writes, memory } = images.stats();
  expect(memory).toEqual({ entries: 0, bytes: 0, maxBytes: 0 });
  expect(writes.bytes).toBeGreaterThan(8_000);
  expect(writes.bytes).toBeLessThanOrEqual(10_000);

  goOn();
  await images.close();
  expect(written).toHaveLength(writes.entries ?? 0);
  expect(images.stats().writes).toMatchObject({ entries: 0, bytes: 0 });
});

test('an image of the current epoch is written, also while an earlier write of its key still runs', async () => {
  const { files, written, goOn } = createHangingFiles();
  const runtime = createTestRuntime();
  const images = createImageStore({ files, maxMemoryBytes: 1_000_000, runtime });
  const [key = ''] = keysOf(GONE);
  images.put(key, bytes, 'plain');
  await new Promise((resolve) => setImmediate(resolve));
  runtime.epochs.next('purge');
  images.put(key, Buffer.from('new image'), 'plain');
  images.put(key, Buffer.from('new image'), 'plain');
  goOn();
  await images.close();
  expect(written).toEqual([`${key}: image`, `${key}: new image`]);
  expect(images.stats().writes).toMatchObject({ entries: 0, bytes: 0 });
});

memoryTest('images in memory count at least what they take there, with their keys', async () => {
  const { files, goOn } = createHangingFiles();
  goOn();
  const images = createImageStore({
    files,
    maxMemoryBytes: 100_000_000,
    runtime: createTestRuntime(),
  });
  // Like a message from an encoder process: a small part of a large buffer.
  const packet = Buffer.alloc(60_000);
  const heldBytes = await measureHeldBytes(async () => {
    for (let number = 0; number < 10_000; number += 1) {
      const part = Buffer.from(packet).subarray(100, 200);
      images.put(`image2/UC${String(number).padStart(22, '0')}/0123456789abcdef/default.avif`, part, 'plain');
    }
    await images.close();
  });
  const { entries, bytes = 0 } = images.stats().memory;
  expect(entries).toBe(10_000);
  expect(heldBytes).toBeLessThan(bytes);
});
