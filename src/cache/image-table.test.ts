import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { bytesOf, MIB, setUpImages } from '../../test/helpers/images.ts';

const [ONE, OTHER] = ['UCone__________________A', 'UCother________________A'];
/** What an image counts against the quota beside its bytes. */
const OVERHEAD_BYTES = 4_096;

const imageOf = (channelId: string, key: string) => ({ channelId, key, isOriginal: false });
const originalOf = (channelId: string, key: string) => ({ channelId, key, isOriginal: true });

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
    const stored = (from: number, to: number) =>
      Array.from({ length: to - from }, (_, index) => from + index).filter((number) => images.get(`${number}`));
    return { ...directory, images, put, stored };
  }

  test('is exact, and the least recently used image is evicted first', async () => {
    const { images, put, stored, clock } = await setUpFull();
    expect(images.usage()).toEqual({ entries: 10, bytes: 10 * SPACE, maxBytes: 10 * SPACE });
    clock.advance(3_600_000);
    images.noteUse('0');
    put(10);
    expect(images.usage().bytes).toBe(10 * SPACE);
    expect(stored(0, 11)).toEqual([0, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
  });

  test('evicts originals last', async () => {
    const { images, put, stored } = await setUpFull();
    images.put(originalOf(OTHER, 'original'), bytesOf('original', SIZE));
    for (let number = 10; number < 30; number += 1) put(number);
    expect(images.get('original')).toBeDefined();
    expect(stored(10, 30)).toHaveLength(9);
    images.put(originalOf(OTHER, 'largest'), bytesOf('largest', 10 * SPACE - OVERHEAD_BYTES));
    expect(images.usage()).toMatchObject({ entries: 1, bytes: 10 * SPACE });
  });

  test('has no room for an image that is larger, nor for one over 6 MiB, and others stay', async () => {
    const { images, open } = await setUpFull();
    expect(images.put(originalOf(ONE, 'large'), bytesOf('large', 10 * SPACE))).toBe(false);
    expect(images.usage().entries).toBe(10);
    const larger = await open(64 * MIB);
    expect(larger.put(originalOf(ONE, 'largest'), bytesOf('largest', 6 * MIB))).toBe(true);
    expect(larger.put(originalOf(ONE, 'too large'), bytesOf('too large', 6 * MIB + 1))).toBe(false);
    const none = await open(0);
    none.put(imageOf(ONE, 'image'), bytesOf('image'));
    expect(none.usage().entries).toBe(0);
  });

  test('may be lower after a restart, the file is smaller then, and uses are remembered', async () => {
    const { images, open, clock, logged, dataDir } = await setUpFull();
    clock.advance(3_600_000);
    images.get('0');
    images.close();
    const lowered = await open(2 * SPACE);
    expect(lowered.usage()).toMatchObject({ entries: 2, bytes: 2 * SPACE });
    expect((await contentOf(dataDir)).length).toBeLessThan(5 * SPACE);
    expect(lowered.get('0')).toBeDefined();
    expect(lowered.get('9')).toBeDefined();
    expect(logged()).toEqual([]);
  });
});

test.each<[what: string, sql: string]>([
  ['other bytes', 'UPDATE contents SET content = zeroblob(20000) WHERE row = 1'],
  ['a text in place of bytes', "UPDATE contents SET content = 'a text' WHERE row = 1"],
  ['no content', 'DELETE FROM contents WHERE row = 1'],
])('an image with %s is removed alone, with a line in the log, and can be stored again', async (_what, sql) => {
  const { open, change, logged } = await setUpImages();
  const images = await open();
  images.put(imageOf(ONE, 'damaged'), bytesOf('image'));
  images.put(imageOf(ONE, 'sound'), bytesOf('other'));
  change(sql);
  expect(images.get('damaged')).toBeUndefined();
  expect(images.get('sound')).toEqual(bytesOf('other'));
  expect([logged(), images.usage().entries]).toEqual([['damaged'], 1]);
  images.put(imageOf(ONE, 'damaged'), bytesOf('image'));
  expect(images.get('damaged')).toEqual(bytesOf('image'));
});

test.each<[what: string, sql: string]>([
  ['a content without its image', "INSERT INTO contents VALUES (1, x'00')"],
  ['a sum that is no number', "UPDATE image_usage SET bytes = 'a text'"],
  ['no sum', 'DELETE FROM image_usage'],
  ['a number that is too large', 'UPDATE image_usage SET bytes = 9007199254740993'],
])('a file with %s is created again, and images can be stored', async (_what, sql) => {
  const { open, change, logged } = await setUpImages();
  const images = await open();
  change(sql);
  expect(images.put(imageOf(ONE, 'image'), bytesOf('image'))).toBe(true);
  expect(images.get('image')).toEqual(bytesOf('image'));
  expect(logged()).toEqual(['rebuilt']);
});

test('an erasure removes every image of a channel, none of another, and its bytes from the disk', async () => {
  const { open, dataDir } = await setUpImages({ maxBytes: 3 * MIB });
  const images = await open();
  for (const channelId of [OTHER, ONE]) {
    for (let width = 1; width <= 120; width += 1) {
      images.put(imageOf(channelId, `${channelId} ${width}`), bytesOf(`image of ${channelId}`));
    }
    images.put(originalOf(channelId, `original of ${channelId}`), bytesOf(`original of ${channelId}`));
  }
  const evicted = 240 - (images.usage().entries - 2);
  expect(evicted).toBeGreaterThan(100);
  expect(await images.erase([ONE, 'UCnever-stored_________A'])).toBe(121);
  expect(images.get(`${ONE} 120`)).toBeUndefined();
  expect(images.get(`original of ${OTHER}`)).toEqual(bytesOf(`original of ${OTHER}`));
  const content = await contentOf(dataDir);
  expect(content).not.toContain(ONE);
});
