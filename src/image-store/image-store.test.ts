import { expect, onTestFinished, test } from 'vitest';
import { createManualClock, type ManualClock } from '../../test/helpers/clock.ts';
import { measureHeldBytes } from '../../test/helpers/heap.ts';
import { createTestRuntime } from '../../test/helpers/runtime.ts';
import { createTemporaryDirectory } from '../../test/helpers/temporary-directory.ts';
import { MAX_SIDE_PX } from '../domain/variants.ts';
import { createDiskImages, type DiskImages } from './disk-images.ts';
import { createImageStore, IMAGE_READ_MS, type ImageStore } from './image-store.ts';

interface Instance {
  readonly images: ImageStore;
  readonly clock: ManualClock;
}

/** A process with the images of a directory. */
async function createInstance(maxMemoryBytes: number, dataDir?: string): Promise<Instance> {
  const clock = createManualClock();
  const disk = createDiskImages({
    dataDir: dataDir ?? (await createTemporaryDirectory()),
    maxBytes: 1_000_000_000,
    clock,
    onEvent: () => undefined,
  });
  const runtime = createTestRuntime({ clock });
  const images = createImageStore({ disk, maxMemoryBytes, runtime });
  onTestFinished(() => images.close());
  return { images, clock };
}

const bytes = Buffer.from('image');

test('the largest image is written', async () => {
  const { images } = await createInstance(1_000);
  // Incompressible rows of a PNG with a filter byte each, in deflate blocks that are stored as they are, and some metadata.
  const rows = MAX_SIDE_PX * (4 * MAX_SIDE_PX + 1);
  images.put('largest', Buffer.alloc(rows + 5 * Math.ceil(rows / 16_383) + 1_000));
  await images.close();
  expect(images.stats().disk.entries).toBe(1);
});

test('an image that is used from memory only stays on the disk, and one that nobody used is removed', async () => {
  const { images, clock } = await createInstance(1_000_000);
  for (const key of ['used', 'unused']) images.put(key, bytes);
  await expect.poll(() => images.stats().disk.entries).toBe(2);
  for (let day = 0; day < 31; day += 1) {
    clock.advance(24 * 3_600_000);
    await images.get('used');
  }
  await images.tidy();
  expect(images.stats().disk.entries).toBe(1);
});

test('a load that ends after the store was closed writes no file', async () => {
  const { images } = await createInstance(1_000_000);
  images.put('before', bytes);
  await images.close();
  images.put('after', bytes);
  expect(images.stats().writes.entries).toBe(0);
  expect(images.stats().disk.entries).toBe(1);
});

const [GONE, KEPT] = ['UCgone_________________A', 'UCkept_________________A'];
const keysOf = (channelId: string) => [`original/${channelId}/0123`, `image2/${channelId}/0123/0,0,1,1/1x1/7.avif`];

test('a channel’s images are erased from memory and disk', async () => {
  const { images } = await createInstance(1_000_000);
  for (const key of [...keysOf(GONE), ...keysOf(KEPT)]) images.put(key, bytes);
  await expect.poll(() => images.stats().disk.entries).toBe(4);
  expect(await images.erase([GONE])).toEqual({ images: 2, bytes: 2 * bytes.length });
  for (const gone of keysOf(GONE)) expect(await images.get(gone)).toBeUndefined();
  for (const kept of keysOf(KEPT)) expect(await images.get(kept)).toEqual(bytes);
  expect(images.stats()).toMatchObject({ disk: { entries: 2 }, memory: { entries: 2 }, writes: { entries: 0 } });
});

function createFakeDisk(faked: Partial<DiskImages> = {}): DiskImages {
  return {
    get: async () => undefined,
    findForReading: async () => undefined,
    noteUse: async () => undefined,
    open: async () => undefined,
    set: async () => undefined,
    erase: async () => ({ images: 0, bytes: 0 }),
    tidy: async () => undefined,
    tryToWrite: async () => undefined,
    usage: () => ({ entries: 0, bytes: 0, freeBytes: 0, maxBytes: 0 }),
    calls: () => ({}),
    close: async () => undefined,
    ...faked,
  };
}

test('an image that is stored during its lookup is found', async () => {
  const lookUp = Promise.withResolvers<undefined>();
  const images = createImageStore({
    disk: createFakeDisk({ get: () => lookUp.promise }),
    maxMemoryBytes: 1_000_000,
    runtime: createTestRuntime(),
  });
  const found = images.get('key');
  images.put('key', bytes);
  lookUp.resolve(undefined);
  expect(await found).toEqual(bytes);
});

/** A disk that hangs until the test releases it. */
function createHangingDisk() {
  const released = Promise.withResolvers<void>();
  const written: string[] = [];
  const disk = createFakeDisk({
    async set(key, content) {
      await released.promise;
      written.push(`${key}: ${content.toString('latin1')}`);
    },
  });
  return { disk, written, goOn: () => released.resolve() };
}

test('an image that a hanging disk does not return counts as absent, which is a condition', async () => {
  const clock = createManualClock();
  const runtime = createTestRuntime({ clock });
  const hanging = () => new Promise<never>(() => undefined);
  const disk = createFakeDisk({ get: hanging, findForReading: hanging, set: hanging });
  const images = createImageStore({ disk, maxMemoryBytes: 0, runtime });
  images.put('large', Buffer.alloc(2 * 1024 * 1024));
  for (const find of [() => images.get('absent'), () => images.findForReading('absent')]) {
    const found = find();
    await clock.advance(IMAGE_READ_MS);
    expect(await found).toBeUndefined();
  }
  expect(runtime.health.problems()).toEqual([['images', expect.stringContaining('within 2000 ms')]]);
  const written = images.findForReading('large');
  await clock.advance(IMAGE_READ_MS);
  expect(await written).toMatchObject({ bytes: expect.any(Buffer) });
});

test('a disk that hangs does not fill the memory: surplus images are not written', async () => {
  const { disk, written, goOn } = createHangingDisk();
  const images = createImageStore({
    disk,
    maxMemoryBytes: 0,
    maxWriteBytes: 10_000,
    runtime: createTestRuntime(),
  });
  for (let number = 0; number < 100; number += 1) images.put(`key ${number}`, Buffer.alloc(1_000));
  const { writes, memory } = images.stats();
  expect(memory).toEqual({ entries: 0, bytes: 0, maxBytes: 0 });
  expect(writes.bytes).toBeGreaterThan(8_000);
  expect(writes.bytes).toBeLessThanOrEqual(10_000);

  goOn();
  await images.close();
  expect(written).toHaveLength(writes.entries ?? 0);
  expect(images.stats().writes).toMatchObject({ entries: 0, bytes: 0 });
});

test('images in memory count at least what they take there, with their keys', async () => {
  const { disk, goOn } = createHangingDisk();
  goOn();
  const images = createImageStore({
    disk,
    maxMemoryBytes: 100_000_000,
    runtime: createTestRuntime(),
  });
  // Like a message from an encoder process: a small part of a large buffer.
  const packet = Buffer.alloc(60_000);
  const heldBytes = await measureHeldBytes(async () => {
    for (let number = 0; number < 10_000; number += 1) {
      const part = Buffer.from(packet).subarray(100, 200);
      images.put(`image2/UC${String(number).padStart(22, '0')}/0123456789abcdef/default.avif`, part);
    }
    await images.close();
  });
  const { entries, bytes = 0 } = images.stats().memory;
  expect(entries).toBe(10_000);
  expect(heldBytes).toBeLessThan(bytes);
});
