import { mkdir, readdir, readFile, rm, stat, truncate, unlink, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it } from 'vitest';
import { bytesOf, imageOf, MIB, originalOf, pathOf, setUpImages } from '../../test/helpers/disk-images.ts';
import { createTemporaryDirectory } from '../../test/helpers/temporary-directory.ts';

const [ONE, OTHER] = ['UCone__________________A', 'UCother________________A'];
const KEY = imageOf(ONE, 'tv');

/** Of all files in the directory together. */
async function contentOf(directory: string): Promise<string> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  const contents = await Promise.all(files.map(({ parentPath, name }) => readFile(join(parentPath, name), 'latin1')));
  return contents.join();
}

describe('stored images', () => {
  it('are returned by this process and the next, an original also as a file', async () => {
    const { open } = await setUpImages();
    const images = open();
    const large = bytesOf('large', 9_000_001);
    await images.set(KEY, bytesOf('image'));
    await images.set(originalOf(ONE), large);
    expect(await images.get(imageOf(ONE, 'never stored'))).toBeUndefined();
    await images.close();
    const next = open();
    expect(await next.get(KEY)).toEqual(bytesOf('image'));
    expect(await next.findForReading(KEY)).toEqual({ bytes: bytesOf('image') });
    expect((await next.get(originalOf(ONE)))?.equals(large)).toBe(true);
    expect((await readFile(await pathOf(next, originalOf(ONE)))).equals(large)).toBe(true);
  });

  it('are replaced completely, also by one of another size', async () => {
    const { open, files } = await setUpImages();
    const images = open();
    await images.set(KEY, bytesOf('first'));
    await images.set(KEY, bytesOf('second', 2 * MIB));
    expect((await images.get(KEY))?.equals(bytesOf('second', 2 * MIB))).toBe(true);
    expect(images.usage()).toMatchObject({ entries: 1 });
    await images.set(KEY, bytesOf('third'));
    expect(await images.get(KEY)).toEqual(bytesOf('third'));
    expect(await readdir(files)).toEqual([]);
  });

  it('are the same for two processes', async () => {
    const { open } = await setUpImages();
    const [left, right] = [open(), open()];
    await Promise.all(
      [left, right].flatMap((images, side) =>
        Array.from({ length: 20 }, (_, number) => images.set(imageOf(ONE, `${side} ${number}`), bytesOf(`${side}`))),
      ),
    );
    for (let number = 0; number < 20; number += 1) {
      const found = await Promise.all([left.get(imageOf(ONE, `1 ${number}`)), right.get(imageOf(ONE, `0 ${number}`))]);
      expect(found).toEqual([bytesOf('1'), bytesOf('0')]);
    }
    await left.erase([ONE]);
    expect(await right.get(imageOf(ONE, '1 1'))).toBeUndefined();
  });
});

describe('a damaged image', () => {
  it('is removed alone if its bytes in the database have changed', async () => {
    const { open, change, events } = await setUpImages();
    const images = open();
    await images.set(KEY, bytesOf('image'));
    await images.set(imageOf(ONE, 'other'), bytesOf('other'));
    change('UPDATE contents SET content = zeroblob(20000) WHERE row = (SELECT min(row) FROM images)');
    expect(await images.get(KEY)).toBeUndefined();
    expect(await images.get(imageOf(ONE, 'other'))).toEqual(bytesOf('other'));
    expect(events).toEqual([{ kind: 'damaged', key: KEY }]);
    await images.set(KEY, bytesOf('image'));
    expect(await images.get(KEY)).toEqual(bytesOf('image'));
    expect(images.usage().entries).toBe(2);
  });

  it('is never another image’s', async () => {
    const { open, change } = await setUpImages();
    const images = open();
    await images.set(KEY, bytesOf('mine'));
    await images.set(imageOf(OTHER, 'tv'), bytesOf('its'));
    change('UPDATE contents SET content = (SELECT content FROM contents WHERE row = 2) WHERE row = 1');
    expect(await images.get(KEY)).toBeUndefined();
  });

  it.each<[string, (path: string) => Promise<void>]>([
    ['cut', (path) => truncate(path, 999)],
    ['changed', (path) => writeFile(path, bytesOf('another'))],
    ['gone', (path) => rm(path)],
  ])('is never returned if its file is %s', async (_case, harm) => {
    const { open, files } = await setUpImages();
    const images = open();
    await images.set(originalOf(ONE), bytesOf('original'));
    await harm(await pathOf(images, originalOf(ONE)));
    expect(await images.get(originalOf(ONE))).toBeUndefined();
    expect(await images.findForReading(originalOf(ONE))).toBeUndefined();
    expect(await readdir(files)).toEqual([]);
    await images.set(originalOf(ONE), bytesOf('original'));
    expect(await readFile(await pathOf(images, originalOf(ONE)))).toEqual(bytesOf('original'));
  });
});

describe('images.db', () => {
  it.each<[string, (path: string) => Promise<void>]>([
    ['garbage', (path) => writeFile(path, Buffer.alloc(100_000, 'garbage'))],
    ['cut short', (path) => truncate(path, 20_000)],
    ['empty', (path) => truncate(path, 0)],
  ])('is created again when it is %s, with at most one log line', async (_case, harm) => {
    const { open, database, events, files } = await setUpImages();
    const before = open();
    for (let number = 0; number < 20; number += 1) await before.set(imageOf(ONE, `${number}`), bytesOf('image'));
    await before.set(originalOf(ONE), bytesOf('original'));
    await before.close();
    await harm(database);
    const images = open();
    expect(await images.get(imageOf(ONE, '1'))).toBeUndefined();
    await images.set(KEY, bytesOf('image'));
    expect(await images.get(KEY)).toEqual(bytesOf('image'));
    expect(images.usage().entries).toBe(1);
    expect(events.map(({ kind }) => kind)).toEqual(_case === 'empty' ? [] : ['rebuilt']);
    expect(await readdir(files).catch(() => [])).toEqual([]);
  });

  it('of another version is created again', async () => {
    const { open, change, events } = await setUpImages();
    const before = open();
    await before.set(KEY, bytesOf('image'));
    await before.close();
    change('PRAGMA user_version = 999');
    expect(await open().get(KEY)).toBeUndefined();
    expect(events).toEqual([{ kind: 'rebuilt', reason: expect.stringContaining('another version') }]);
  });

  it('that was deleted while nothing used it is created without the files of the former one', async () => {
    const { open, database, files } = await setUpImages();
    const before = open();
    await before.set(originalOf(ONE), bytesOf('original'));
    await before.close();
    await unlink(database);
    expect(await open().erase([ONE])).toMatchObject({ images: 0 });
    expect(await readdir(files).catch(() => [])).toEqual([]);
  });

  it('is created again within a second when it is deleted while it is open', async () => {
    const { open, database, clock, events } = await setUpImages();
    const images = open();
    await images.set(KEY, bytesOf('image'));
    await unlink(database);
    clock.advance(1_000);
    expect(await images.get(KEY)).toBeUndefined();
    await images.set(KEY, bytesOf('new'));
    expect(await images.get(KEY)).toEqual(bytesOf('new'));
    expect(events.map(({ kind }) => kind)).toEqual(['rebuilt']);
  });

  it('that cannot be opened makes every call fail, and works when it can be', async () => {
    const obstacle = join(await createTemporaryDirectory(), 'data');
    await writeFile(obstacle, 'a file where the directory should be');
    const { open, clock } = await setUpImages({ dataDir: obstacle });
    const images = open();
    await expect(images.get(KEY)).rejects.toThrow(/images\.db cannot be used/);
    await expect(images.erase([ONE])).rejects.toThrow(/images\.db cannot be used/);
    await rm(obstacle);
    clock.advance(2_000);
    await images.set(KEY, bytesOf('image'));
    expect(await images.get(KEY)).toEqual(bytesOf('image'));
  });
});

describe('an erasure', () => {
  async function setUpTwoChannels() {
    const directory = await setUpImages();
    const images = directory.open();
    for (const channelId of [ONE, OTHER]) {
      await images.set(originalOf(channelId, 'now'), bytesOf(`original of ${channelId}`));
      await images.set(originalOf(channelId, 'a year ago'), bytesOf(`original of ${channelId}`));
      for (let width = 1; width <= 40; width += 1) {
        await images.set(imageOf(channelId, `${width}`), bytesOf(`image of ${channelId}`));
      }
    }
    return { ...directory, images };
  }

  it('removes every image of a channel, and leaves none of its bytes on the disk', async () => {
    const { images, dataDir } = await setUpTwoChannels();
    expect(await images.erase([ONE])).toEqual({ images: 42, bytes: 42 * 20_000 });
    expect(await images.get(originalOf(ONE, 'now'))).toBeUndefined();
    expect(await images.get(imageOf(ONE, '40'))).toBeUndefined();
    expect(await images.get(imageOf(OTHER, '40'))).toEqual(bytesOf(`image of ${OTHER}`));
    expect(await readFile(await pathOf(images, originalOf(OTHER, 'a year ago')))).toHaveLength(20_000);
    const content = await contentOf(dataDir);
    expect(content).toContain(`image of ${OTHER}`);
    expect(content).not.toContain(ONE);
    expect(images.usage()).toMatchObject({ entries: 42 });
  });

  it('fails while another process reads the log, and the next one empties it', async () => {
    const { images, dataDir, database } = await setUpTwoChannels();
    const reader = new DatabaseSync(database, { readOnly: true });
    reader.exec('BEGIN; SELECT * FROM images');
    await expect(images.erase([ONE])).rejects.toThrow('another process is reading the database');
    reader.close();
    await images.erase([ONE]);
    expect(await contentOf(dataDir)).not.toContain(ONE);
  });

  it('that cannot remove a file fails, and can be tried again', async () => {
    const { images } = await setUpTwoChannels();
    const path = await pathOf(images, originalOf(ONE, 'now'));
    await rm(path);
    // Root may remove every file, but cannot remove a directory as a file.
    await mkdir(path);
    await expect(images.erase([ONE])).rejects.toThrow();
    await rm(path, { recursive: true });
    expect((await images.erase([ONE])).images).toBeGreaterThan(0);
    expect(images.usage().entries).toBe(42);
  });
});

describe('what an earlier version or a killed process left', () => {
  it('is deleted: the former folder with one log line, a file without a row after an hour', async () => {
    const { open, former, files, events, clock } = await setUpImages();
    await mkdir(join(former, 'abc'), { recursive: true });
    await writeFile(join(former, 'abc', 'an image'), 'image');
    const images = open();
    await images.set(originalOf(ONE), bytesOf('original'));
    for (const name of ['old', 'new']) await writeFile(join(files, name), 'a part');
    const seconds = clock.now() / 1_000;
    await utimes(join(files, 'new'), seconds, seconds);
    await utimes(join(files, 'old'), seconds - 3_601, seconds - 3_601);
    await images.tidy();
    expect(await stat(former).catch(() => 'gone')).toBe('gone');
    expect(events).toEqual([{ kind: 'former-deleted', path: former }]);
    expect(await readdir(files)).toEqual(expect.arrayContaining(['new']));
    expect(await readdir(files)).toHaveLength(2);
    expect(await images.get(originalOf(ONE))).toEqual(bytesOf('original'));
  });
});
