import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { bytesOf, DELETE_IMAGES, MIB, setUpImages } from '../../test/helpers/images.ts';

const [ONE, OTHER] = ['UCone__________________A', 'UCother________________A'];
/** What an image counts against the quota beside its bytes. */
const OVERHEAD_BYTES = 4_096;

const imageOf = (channelId: string, name: string) => ({ key: `${channelId}/${name}`, isOriginal: false });
const originalOf = (channelId: string, name: string) => ({ key: `${channelId}/${name}`, isOriginal: true });

/** Of all files in the directory together. */
async function contentOf(directory: string): Promise<string> {
  const names = await readdir(directory);
  const contents = await Promise.all(names.map((name) => readFile(join(directory, name), 'latin1')));
  return contents.join();
}

describe('the quota', () => {
  const SIZE = 100_000;
  const SPACE = SIZE + OVERHEAD_BYTES;

  /** Ten images of the same size, used one after the other, which fill the quota to the last byte. */
  async function setUpFull() {
    const directory = await setUpImages({ maxBytes: 10 * SPACE });
    const images = await directory.open();
    const put = (number: number) => {
      directory.clock.advance(1_000);
      images.put(imageOf(ONE, `${number}`), bytesOf(`${number}`, SIZE));
    };
    for (let number = 0; number < 10; number += 1) put(number);
    async function stored(from: number, to: number): Promise<readonly number[]> {
      const found: number[] = [];
      for (let number = from; number < to; number += 1) {
        if ((await images.get(imageOf(ONE, `${number}`))) !== undefined) found.push(number);
      }
      return found;
    }
    return { ...directory, images, put, stored };
  }

  test('is exact, and the least recently used image is evicted first', async () => {
    const { images, put, stored, clock, usage } = await setUpFull();
    expect(usage()).toEqual({ entries: 10, bytes: 10 * SPACE });
    clock.advance(3_600_000);
    await images.get(imageOf(ONE, '0'));
    put(10);
    expect(usage().bytes).toBe(10 * SPACE);
    expect(await stored(0, 11)).toEqual([0, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
  });

  test('evicts originals last', async () => {
    const { images, put, stored, usage } = await setUpFull();
    images.put(originalOf(OTHER, 'original'), bytesOf('original', SIZE));
    for (let number = 10; number < 30; number += 1) put(number);
    expect(await images.get(originalOf(OTHER, 'original'))).toBeDefined();
    expect(await stored(10, 30)).toHaveLength(9);
    images.put(originalOf(OTHER, 'largest'), bytesOf('largest', 10 * SPACE - OVERHEAD_BYTES));
    expect(usage()).toEqual({ entries: 1, bytes: 10 * SPACE });
  });

  test('has no room for an image that is larger, nor for one over 6 MiB, and others stay', async () => {
    const { images, open, usage } = await setUpFull();
    images.put(originalOf(ONE, 'large'), bytesOf('large', 10 * SPACE));
    expect(usage().entries).toBe(10);
    const larger = await open(64 * MIB);
    larger.put(originalOf(ONE, 'largest'), bytesOf('largest', 6 * MIB));
    larger.put(originalOf(ONE, 'too large'), bytesOf('too large', 6 * MIB + 1));
    expect(usage().entries).toBe(11);
    const none = await open(0);
    none.put(imageOf(ONE, 'image'), bytesOf('image'));
    expect(usage().entries).toBe(0);
  });

  test('may be lower after a restart, the file is smaller then, and uses are remembered', async () => {
    const { images, open, clock, logged, dataDir, usage } = await setUpFull();
    clock.advance(3_600_000);
    await images.get(imageOf(ONE, '0'));
    images.close();
    const lowered = await open(2 * SPACE);
    expect(usage()).toEqual({ entries: 2, bytes: 2 * SPACE });
    expect((await contentOf(dataDir)).length).toBeLessThan(5 * SPACE);
    for (const key of ['0', '9']) expect(await lowered.get(imageOf(ONE, key))).toBeDefined();
    expect(logged()).toEqual([]);
  });
});

test('an image that nobody has used for 30 days is removed when another one is stored', async () => {
  const { open, clock, usage } = await setUpImages();
  const images = await open();
  for (const name of ['used', 'unused']) images.put(imageOf(ONE, name), bytesOf(name));
  clock.advance(20 * 24 * 3_600_000);
  await images.get(imageOf(ONE, 'used'));
  clock.advance(20 * 24 * 3_600_000);
  images.put(imageOf(ONE, 'new'), bytesOf('new'));
  expect(usage().entries).toBe(2);
  expect(await images.get(imageOf(ONE, 'used'))).toEqual(bytesOf('used'));
});

test.each<[what: string, sql: string]>([
  ['a content without its image', "INSERT INTO contents VALUES (1, x'00')"],
  ['a sum that is no number', "UPDATE usage SET bytes = 'a text'"],
  ['no sum', 'DELETE FROM usage'],
  ['a number that is too large', 'UPDATE usage SET bytes = 9007199254740993'],
])('a file with %s is created again, and images can be stored', async (_what, sql) => {
  const { open, change, logged } = await setUpImages();
  const images = await open();
  change(sql);
  images.put(imageOf(ONE, 'image'), bytesOf('image'));
  expect(await images.get(imageOf(ONE, 'image'))).toEqual(bytesOf('image'));
  expect(logged()).toEqual(['rebuilt']);
});

describe('in memory', () => {
  test('are images that are used, and these stay on the disk', async () => {
    const directory = await setUpImages({ maxBytes: 2 * (20_000 + OVERHEAD_BYTES), maxMemoryBytes: MIB });
    const { open, change, clock } = directory;
    const images = await open();
    const [used, unused] = [imageOf(ONE, 'used'), imageOf(ONE, 'unused')];
    images.put(used, bytesOf('image'));
    clock.advance(1_000);
    images.put(unused, bytesOf('image'));
    clock.advance(3_600_000);
    await images.get(used);
    images.put(imageOf(ONE, 'new'), bytesOf('image'));
    const restarted = await open();
    expect([await restarted.get(used), await restarted.get(unused)]).toEqual([bytesOf('image'), undefined]);
    change(DELETE_IMAGES);
    expect(await images.get(used)).toEqual(bytesOf('image'));
  });

  test('are images that cannot be stored, and originals only then', async () => {
    const { open, change, clock } = await setUpImages({ maxMemoryBytes: 16 * MIB });
    const images = await open();
    const [stored, large] = [originalOf(ONE, 'stored'), originalOf(ONE, 'large')];
    images.put(stored, bytesOf('original'));
    images.put(large, bytesOf('original', 6 * MIB + 1));
    expect([await images.get(stored), (await images.get(large))?.length]).toEqual([bytesOf('original'), 6 * MIB + 1]);
    change(DELETE_IMAGES);
    clock.advance(24 * 3_600_000);
    expect([await images.get(stored), (await images.get(large))?.length]).toEqual([undefined, 6 * MIB + 1]);
    images.forget({ channelIds: [ONE], keys: [] });
    expect(await images.get(large)).toBeUndefined();
  });
});
