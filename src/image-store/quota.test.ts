import { expect, test } from 'vitest';
import { bytesOf, bytesOfImages, imageOf, MIB, originalOf, setUpImages } from '../../test/helpers/disk-images.ts';

const DAY_MS = 24 * 3_600_000;
const CHANNEL = 'UCone__________________A';
const QUOTA = 8 * MIB;
const IMAGE_BYTES = 100_000;

const keyOf = (number: number) => imageOf(CHANNEL, `${number}`);

/** More plain images than the quota has room for, used one after the other. */
async function setUpFull() {
  const directory = await setUpImages({ maxBytes: QUOTA });
  const images = directory.open();
  for (let number = 0; number < 100; number += 1) {
    directory.clock.advance(1_000);
    await images.set(keyOf(number), bytesOf(`${number}`, IMAGE_BYTES));
  }
  const isStored = async (number: number) => (await images.get(keyOf(number))) !== undefined;
  return { ...directory, images, isStored };
}

test('the quota holds for the database, its log and the originals while images of all kinds come and go', async () => {
  const directory = await setUpImages({ maxBytes: QUOTA });
  const images = directory.open();
  for (let number = 0; number < 300; number += 1) {
    const size = 1 + ((number * 7_919) % 150_000);
    if (number % 10 === 0) await images.set(originalOf(CHANNEL, `${number}`), bytesOf('original', 3 * size));
    await images.set(keyOf(number), bytesOf(`${number}`, size));
    expect(await bytesOfImages(directory)).toBeLessThanOrEqual(QUOTA);
  }
  expect(images.usage().bytes).toBeGreaterThan(0.6 * QUOTA);
  expect(await images.get(keyOf(299))).toBeDefined();
});

test('the quota evicts exactly the images that were used least recently', async () => {
  const { images, isStored, clock } = await setUpFull();
  const { entries } = images.usage();
  const oldest = 100 - entries;
  expect([await isStored(oldest - 1), await isStored(oldest)]).toEqual([false, true]);
  clock.advance(3_600_000);
  await images.get(keyOf(oldest));
  clock.advance(1_000);
  await images.set(keyOf(200), bytesOf('new', IMAGE_BYTES));
  expect([await isStored(oldest), await isStored(oldest + 1), await isStored(oldest + 2)]).toEqual([true, false, true]);
});

test('images of a time when the clock was ahead are evicted before new ones', async () => {
  const { open, clock } = await setUpImages({ maxBytes: QUOTA });
  const images = open();
  async function store(first: number, count: number): Promise<void> {
    for (let number = first; number < first + count; number += 1) {
      clock.advance(1_000);
      await images.set(keyOf(number), bytesOf(`${number}`, IMAGE_BYTES));
    }
  }
  clock.jumpWallClock(365 * DAY_MS);
  await store(0, 100);
  clock.jumpWallClock(-365 * DAY_MS);
  await store(200, 5);
  for (let number = 200; number < 205; number += 1) expect(await images.get(keyOf(number))).toBeDefined();
});

test('the last uses are remembered after a restart', async () => {
  const { images, open, clock } = await setUpFull();
  const oldest = 100 - images.usage().entries;
  clock.advance(3_600_000);
  await images.get(keyOf(oldest));
  await images.close();
  const next = open();
  await next.set(keyOf(200), bytesOf('new', IMAGE_BYTES));
  expect(await next.get(keyOf(oldest))).toBeDefined();
  expect(await next.get(keyOf(oldest + 1))).toBeUndefined();
});

test('an image that is too large for the quota displaces no other', async () => {
  const { images } = await setUpFull();
  const before = images.usage();
  await images.set(originalOf(CHANNEL), bytesOf('large', QUOTA));
  expect(await images.get(originalOf(CHANNEL))).toBeUndefined();
  expect(images.usage()).toEqual(before);
});

test('a lowered quota frees the disk', async () => {
  const { images, open, ...directory } = await setUpFull();
  await images.close();
  const lowered = open(4 * MIB);
  await lowered.tidy();
  expect(await bytesOfImages(directory)).toBeLessThan(4 * MIB);
  expect(lowered.usage().entries).toBeGreaterThan(10);
  expect(await lowered.get(keyOf(99))).toBeDefined();
});

test('a quota of zero bytes keeps nothing', async () => {
  const { open } = await setUpImages();
  const images = open(0);
  await images.set(keyOf(1), bytesOf('x'));
  await images.set(originalOf(CHANNEL), bytesOf('x'));
  await images.tidy();
  expect(images.usage().entries).toBe(0);
});

test('images that nobody used for 30 days are removed', async () => {
  const { open, clock } = await setUpImages();
  const images = open();
  for (const number of [1, 2]) await images.set(keyOf(number), bytesOf('x'));
  await images.set(originalOf(CHANNEL), bytesOf('x'));
  clock.advance(29 * DAY_MS);
  await images.get(keyOf(2));
  await images.tidy();
  expect(images.usage().entries).toBe(3);
  clock.advance(2 * DAY_MS);
  await images.tidy();
  expect(images.usage().entries).toBe(1);
  expect(await images.get(keyOf(2))).toBeDefined();
});
