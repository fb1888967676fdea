import { createHash } from 'node:crypto';
import { createDiskImages } from '../../src/image-store/disk-images.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { createSqliteStore } from '../../src/store/sqlite.ts';

/** 10 to 250 kilobytes that are unique to this number. */
export function imageOf(number: number): Buffer {
  const seed = createHash('sha256').update(`image ${number}`).digest();
  return Buffer.alloc(10_000 + (number % 25) * 10_000, seed);
}

/** Every tenth is an original. */
export function keyOf(number: number): string {
  return number % 10 === 0 ? `original/UC/${number}` : `image4/UC/${number}`;
}

async function writeImages(dataDir: string): Promise<void> {
  const images = createDiskImages({
    dataDir,
    maxBytes: 20_000_000,
    clock: systemClock,
    onEvent: (event) => console.error(event),
  });
  for (let first = 0; ; first += 8) {
    const numbers = Array.from({ length: 8 }, (_, index) => (first + index) % 200);
    const write = (number: number) => images.set(keyOf(number), imageOf(number));
    await Promise.all(numbers.map(write));
    process.stdout.write('.');
  }
}

async function writeRecords(path: string): Promise<void> {
  const store = createSqliteStore({ path, maxBytes: 50_000_000, onEvent: () => undefined });
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
