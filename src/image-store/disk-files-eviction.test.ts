import { mkdirSync, utimesSync, writeFileSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { bytesOf, keyOf, setUpFileStore } from '../../test/helpers/file-store.ts';
import { MAX_CUSTOM_FILES_OF_SHARD } from './disk-files.ts';
import { digestOf, fileNameOf, relativePathOf, shardOf } from './file-names.ts';

const DAY_MS = 24 * 3_600_000;

/** Writes an empty image of own size. */
async function write(directory: string, key: string, usedAtMs: number): Promise<void> {
  const path = join(directory, relativePathOf(await fileNameOf(key, Buffer.alloc(0), 'custom')));
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, '');
  utimesSync(path, usedAtMs / 1_000, usedAtMs / 1_000);
}

it.each([
  ['many channels', (number: number) => keyOf(`${number}`)],
  ['three channels', (number: number) => `image/${number % 3}/${number}`],
  ['one channel', (number: number) => `image/one/${number}`],
])('a full store with images of %s evicts files that are among the 10 % used least recently', async (_, keyAt) => {
  const FILES = 400;
  const { directory, clock, openScanned, countOf } = await setUpFileStore({ maxFiles: FILES, maxBytes: 10_000_000 });
  const files = await openScanned();
  const lastUse = new Map<string, number>();
  let uses = 0;
  const use = (key: string) => {
    uses += 1;
    clock.advance(1_000);
    lastUse.set(key, uses);
  };
  for (let number = 0; number < FILES; number += 1) {
    await files.set(keyAt(number), bytesOf('image', 10), 'plain');
    use(keyAt(number));
    const popular = keyAt(number - (number % 7));
    expect(await files.get(popular)).toBeDefined();
    use(popular);
  }
  for (let number = FILES; number < FILES + 50; number += 1) {
    const order = [...lastUse].sort(([, left], [, right]) => left - right).map(([key]) => key);
    await files.set(keyAt(number), bytesOf('image', 10), 'plain');
    const left = (await readdir(directory, { recursive: true })).join();
    const rank = order.findIndex((key) => !left.includes(digestOf(key)));
    expect(rank).toBeGreaterThanOrEqual(0);
    expect(rank).toBeLessThan(0.1 * FILES);
    lastUse.delete(order[rank] as string);
    use(keyAt(number));
  }
  expect(countOf('evicted')).toBe(50);
});

it.each([1, 10])(
  'unused images of one channel are evicted before used images; other channels: %i',
  async (channels) => {
    const [UNUSED, USED, NEW] = [5_000, 2_500, 80];
    const { directory, clock, openScanned } = await setUpFileStore({ maxFiles: 4 * (UNUSED + USED), maxBytes: 1e12 });
    const unusedKey = (number: number) => `image/flooded/${number}`;
    const usedKey = (number: number) => `image/${number % channels}/${number}`;
    for (let number = 0; number < UNUSED; number += 1)
      await write(directory, unusedKey(number), clock.now() - 2 * DAY_MS);
    for (let number = 0; number < USED; number += 1) await write(directory, usedKey(number), clock.now() - DAY_MS);
    const files = await openScanned();
    for (let number = 0; number < NEW; number += 1) await files.set(keyOf(`new ${number}`), bytesOf('image'), 'custom');

    const left = new Set((await readdir(directory, { recursive: true })).map((path) => path.slice(4, 44)));
    const countLeft = (count: number, keyAt: (number: number) => string) =>
      Array.from({ length: count }, (_, number) => digestOf(keyAt(number))).filter((digest) => left.has(digest)).length;
    expect(countLeft(USED, usedKey)).toBe(USED);
    expect(countLeft(UNUSED, unusedKey)).toBe(UNUSED - NEW);
  },
);

it('own sizes of one channel do not fill a directory: of its unused files, some are evicted', async () => {
  const { directory, clock, openScanned, countOf } = await setUpFileStore({ maxFiles: 1e6, maxBytes: 1e12 });
  const keys: string[] = [];
  for (let number = 0; keys.length < MAX_CUSTOM_FILES_OF_SHARD + 10; number += 1) {
    const key = `image/one/${number}`;
    if (shardOf(digestOf(key)) === shardOf(digestOf('image/one/0'))) keys.push(key);
  }
  const [stored, added] = [keys.slice(10), keys.slice(0, 10)];
  for (const [at, key] of stored.entries()) await write(directory, key, clock.now() - (1 + (at % 2)) * DAY_MS);
  const files = await openScanned();
  for (const key of added) await files.set(key, bytesOf('image'), 'custom');
  expect(files.stats().entries).toBe(MAX_CUSTOM_FILES_OF_SHARD);
  expect(countOf('evicted')).toBe(10);

  const left = (await readdir(directory, { recursive: true })).join();
  expect(added.filter((key) => !left.includes(digestOf(key)))).toEqual([]);
  expect(stored.filter((key, at) => at % 2 === 0 && !left.includes(digestOf(key)))).toEqual([]);
  await files.set('image/one/plain', bytesOf('image'), 'plain');
  expect(countOf('evicted')).toBe(10);
});
