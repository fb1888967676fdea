import { createHash } from 'node:crypto';
import type { OriginalId } from '../../src/cache/image-table.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { openEntries } from '../helpers/entries.ts';
import { openImages, originalOf } from '../helpers/images.ts';

/** 10 to 250 kilobytes that are unique to this number. */
export function imageOf(number: number): Buffer {
  const seed = createHash('sha256').update(`image ${number}`).digest();
  return Buffer.alloc(10_000 + (number % 25) * 10_000, seed);
}

const CHANNEL = 'UCendless______________A';

export function keyOf(number: number): string {
  return `image4/${CHANNEL}/${number}`;
}

export function originalIdOf(number: number): OriginalId {
  return originalOf(CHANNEL, imageOf(number));
}

/** Every tenth is an original. */
export const isOriginal = (number: number) => number % 10 === 0;

async function writeImages(dataDir: string): Promise<void> {
  const images = await openImages(dataDir, 20_000_000);
  for (let number = 0; ; number = (number + 1) % 200) {
    if (isOriginal(number)) await images.putOriginal(originalIdOf(number), imageOf(number));
    else images.put(CHANNEL, keyOf(number), imageOf(number));
    if (number % 8 === 0) process.stdout.write('.');
  }
}

async function writeRecords(path: string): Promise<void> {
  const { table: store } = openEntries(path, { clock: systemClock });
  for (let number = 0; ; number += 1) {
    const key = `record ${number % 500}`;
    await store.set(key, { value: key.repeat(100 + (number % 200)), storedAtMs: number }, 3_600_000);
    if (number % 8 === 0) process.stdout.write('.');
  }
}

/** A process that tests kill. It prints a dot after every eight writes: `node endless-writer.ts images DIRECTORY`, `node endless-writer.ts records FILE`. */
if (import.meta.main) {
  const [, , what, path = ''] = process.argv;
  await (what === 'images' ? writeImages(path) : writeRecords(path));
}
