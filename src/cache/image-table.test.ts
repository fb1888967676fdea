import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { bytesOf, originalOf, setUpImages } from '../../test/helpers/images.ts';
import { originalName } from './image-table.ts';

const [ONE, OTHER] = ['UCone__________________A', 'UCother________________A'];
/** What an image counts against the quota beside its bytes. */
const OVERHEAD_BYTES = 4_096;

/** Of all files in the directory together. */
async function contentOf(directory: string): Promise<string> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  const contents = await Promise.all(files.map(({ parentPath, name }) => readFile(join(parentPath, name), 'latin1')));
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
      images.put(ONE, `${number}`, bytesOf(`${number}`, SIZE));
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
    const { images, put, stored, originals } = await setUpFull();
    const original = bytesOf('original', SIZE);
    await images.putOriginal(originalOf(OTHER, original), original);
    for (let number = 10; number < 30; number += 1) put(number);
    expect(images.findOriginal(originalOf(OTHER, original))).toBeDefined();
    expect(stored(10, 30)).toHaveLength(9);
    const largest = bytesOf('largest', 10 * SPACE - OVERHEAD_BYTES);
    await images.putOriginal(originalOf(OTHER, largest), largest);
    expect(images.usage()).toMatchObject({ entries: 1, bytes: 10 * SPACE });
    expect(await readdir(originals)).toEqual([originalName(originalOf(OTHER, largest))]);
  });

  test('has no room for an image that is larger, and others stay', async () => {
    const { images, open } = await setUpFull();
    const large = bytesOf('large', 10 * SPACE);
    images.put(ONE, 'large', large);
    expect(await images.putOriginal(originalOf(ONE, large), large)).toBeUndefined();
    expect(images.usage().entries).toBe(10);
    const none = await open(0);
    none.put(ONE, 'image', bytesOf('image'));
    expect(none.usage().entries).toBe(0);
  });

  test('may be lower after a restart, and uses are remembered', async () => {
    const { images, open, clock, logged } = await setUpFull();
    clock.advance(3_600_000);
    images.get('0');
    images.close();
    const lowered = await open(2 * SPACE);
    expect(lowered.usage()).toMatchObject({ entries: 2, bytes: 2 * SPACE });
    expect(lowered.get('0')).toBeDefined();
    expect(lowered.get('9')).toBeDefined();
    expect(logged()).toEqual([]);
  });
});

describe('a damaged image', () => {
  test('is removed alone, with a line in the log', async () => {
    const { open, change, logged } = await setUpImages();
    const images = await open();
    images.put(ONE, 'damaged', bytesOf('image'));
    images.put(ONE, 'sound', bytesOf('other'));
    change('UPDATE contents SET content = zeroblob(20000) WHERE row = 1');
    expect(images.get('damaged')).toBeUndefined();
    expect(images.get('sound')).toEqual(bytesOf('other'));
    expect([logged(), images.usage().entries]).toEqual([['damaged'], 1]);
    images.put(ONE, 'damaged', bytesOf('image'));
    expect(images.get('damaged')).toEqual(bytesOf('image'));
  });

  test('is removed if it is an original whose file cannot be read, and can be stored again', async () => {
    const { open, logged } = await setUpImages();
    const images = await open();
    const original = bytesOf('original');
    const id = originalOf(ONE, original);
    const path = (await images.putOriginal(id, original)) ?? '';
    await rm(path);
    images.discardOriginal(id);
    expect(images.findOriginal(id)).toBeUndefined();
    expect(images.usage()).toMatchObject({ entries: 0, bytes: 0 });
    expect(logged()).toEqual(['damaged']);
    expect(await images.putOriginal(id, original)).toBe(path);
    expect(await readFile(path)).toEqual(original);
  });
});

describe('the folder of originals', () => {
  test('has no file without a row after a start', async () => {
    const { open, originals } = await setUpImages();
    const before = await open();
    const original = bytesOf('original');
    await before.putOriginal(originalOf(ONE, original), original);
    before.close();
    await writeFile(join(originals, originalName({ channelId: OTHER, digest: 'partly written' })), 'a part');
    for (let number = 0; number < 100; number += 1) await writeFile(join(originals, `${number}`), '');
    await mkdir(join(originals, 'folder'));
    const after = await open();
    expect(await readdir(originals)).toEqual([originalName(originalOf(ONE, original))]);
    expect(after.findOriginal(originalOf(ONE, original))).toBeDefined();
  });

  test('is emptied when the database is damaged at a start, and when it is deleted under the service', async () => {
    const { open, originals, database } = await setUpImages();
    const original = bytesOf('original');
    const before = await open();
    await before.putOriginal(originalOf(ONE, original), original);
    before.close();
    await writeFile(database, Buffer.alloc(100_000, 'garbage'));
    const images = await open();
    expect(await readdir(originals)).toEqual([]);

    await images.putOriginal(originalOf(ONE, original), original);
    await rm(database);
    await images.open();
    expect(images.findOriginal(originalOf(ONE, original))).toBeUndefined();
    expect(await readdir(originals)).toEqual([]);
  });
});

describe('an erasure', () => {
  async function setUpTwoChannels() {
    const directory = await setUpImages();
    const images = await directory.open();
    for (const channelId of [ONE, OTHER]) {
      const original = bytesOf('the same original of both');
      await images.putOriginal(originalOf(channelId, original), original);
      for (let width = 1; width <= 40; width += 1)
        images.put(channelId, `${channelId} ${width}`, bytesOf(`image of ${channelId}`));
    }
    const id = (channelId: string) => originalOf(channelId, bytesOf('the same original of both'));
    return { ...directory, images, id };
  }

  test('removes every image of a channel, none of another, and its bytes from the disk', async () => {
    const { images, dataDir, id } = await setUpTwoChannels();
    expect(await images.erase([ONE])).toBe(41);
    expect(images.findOriginal(id(ONE))).toBeUndefined();
    expect(images.get(`${ONE} 40`)).toBeUndefined();
    expect(images.get(`${OTHER} 40`)).toEqual(bytesOf(`image of ${OTHER}`));
    expect(images.findOriginal(id(OTHER))).toBeDefined();
    const content = await contentOf(dataDir);
    expect(content).toContain(`image of ${OTHER}`);
    expect(content).not.toContain(ONE);
    expect(await readdir(join(dataDir, 'originals'))).toHaveLength(1);
  });

  test('that cannot remove a file fails, and can be tried again', async () => {
    const { images, id } = await setUpTwoChannels();
    const path = images.findOriginal(id(ONE)) ?? '';
    await rm(path);
    // Root may remove every file, but cannot remove a directory as a file.
    await mkdir(path);
    await expect(images.erase([ONE])).rejects.toThrow();
    await rm(path, { recursive: true });
    await images.erase([ONE]);
    expect(images.usage().entries).toBe(41);
  });
});
