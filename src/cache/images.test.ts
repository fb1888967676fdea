import { expect, test } from 'vitest';
import { measureHeldBytes } from '../../test/helpers/heap.ts';
import { bytesOf, MIB, originalOf, setUpImages } from '../../test/helpers/images.ts';
import { createTestRuntime, readBound } from '../../test/helpers/runtime.ts';
import { createImageStore } from './images.ts';

const ONE = 'UCone__________________A';

async function setUp({ maxMemoryBytes = 64 * MIB, maxBytes = 64 * MIB } = {}) {
  const directory = await setUpImages({ maxBytes });
  const table = await directory.open();
  const { clock } = directory;
  const runtime = createTestRuntime({ clock });
  return {
    ...directory,
    table,
    images: createImageStore({ table, maxMemoryBytes, runtime }),
    metrics: runtime.metrics,
  };
}

test('an image is in memory and on the disk, and one over 6 MiB only in memory', async () => {
  const { images, table } = await setUp();
  images.put(ONE, 'small', bytesOf('image'));
  images.put(ONE, 'large', bytesOf('image', 6 * MIB + 1));
  expect(await images.get(ONE, 'small')).toEqual(bytesOf('image'));
  expect(await images.get(ONE, 'large')).toHaveLength(6 * MIB + 1);
  expect(table.get('small')).toEqual(bytesOf('image'));
  expect(table.get('large')).toBeUndefined();
});

test('an image that is used from memory stays on the disk', async () => {
  const space = 20_000 + 4_096;
  const { images, table, clock } = await setUp({ maxBytes: 2 * space });
  images.put(ONE, 'used', bytesOf('image'));
  clock.advance(1_000);
  images.put(ONE, 'unused', bytesOf('image'));
  clock.advance(3_600_000);
  await images.get(ONE, 'used');
  images.put(ONE, 'new', bytesOf('image'));
  expect(['used', 'unused', 'new'].map((key) => table.get(key) !== undefined)).toEqual([true, false, true]);
});

test('an original is in memory only if it cannot be stored', async () => {
  const original = bytesOf('original');
  const id = originalOf(ONE, original);
  const stored = await setUp({ maxMemoryBytes: 0 });
  stored.images.putOriginal(id, original);
  expect(await stored.images.getOriginal(id)).toEqual(original);
  await stored.images.erase([ONE]);
  expect(await stored.images.getOriginal(id)).toBeUndefined();

  const { images } = await setUp({ maxBytes: 0 });
  images.putOriginal(id, original);
  expect(await images.getOriginal(id)).toEqual(original);
});

test('images in memory count at least what they take there, with their keys', async () => {
  const { images, metrics } = await setUp({ maxMemoryBytes: 100_000_000, maxBytes: 0 });
  // Like a message from an encoder process: a small part of a large buffer.
  const packet = Buffer.alloc(60_000);
  const heldBytes = await measureHeldBytes(() => {
    for (let number = 0; number < 10_000; number += 1) {
      const part = Buffer.from(packet).subarray(100, 200);
      images.put(ONE, `image2/UC${String(number).padStart(22, '0')}/0123456789abcdef/default.avif`, part);
    }
  });
  const { entries, bytes } = await readBound(metrics, 'pennant_images_in_memory');
  expect(entries).toBe(10_000);
  expect(heldBytes).toBeLessThan(bytes);
});
