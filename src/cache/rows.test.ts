import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { createManualClock } from '../../test/helpers/clock.ts';
import { openValues, storedBytesIn } from '../../test/helpers/images.ts';
import { createTemporaryDirectory } from '../../test/helpers/temporary-directory.ts';

const HOUR_MS = 3_600_000;
const CHANNEL = 'UCgone_________________A';
const REMOVAL = { channelIds: [CHANNEL], keys: [] };
/** Is in every part of the text, so that a remaining piece of it is noticed. */
const SECRET = 'private words';
const TEXT = `${SECRET} ${CHANNEL} `.repeat(150);

async function setUp(maxBytes: number) {
  const directory = await createTemporaryDirectory();
  const clock = createManualClock();
  const values = openValues(directory, { clock, maxBytes });
  onTestFinished(values.close);
  const { get, remove } = values;
  const set = (key: string, text: string, ttlMs = HOUR_MS) => values.set(key, text, ttlMs);

  /** The content of all files together: the database, its log and the log's index. */
  async function bytes(): Promise<string> {
    const names = await readdir(directory);
    return (await Promise.all(names.map((name) => readFile(join(directory, name), 'latin1')))).join('');
  }

  return { directory, clock, set, get, remove, bytes };
}

test('what was removed is in no file afterwards, also after many changes, and when it had expired or been evicted', async () => {
  const { remove, set, get, bytes, clock } = await setUp(200_000);
  for (let round = 0; round < 20; round += 1) {
    await set(`channel1:${CHANNEL}`, `${TEXT} ${round}`);
    await set(`search1:words ${round}`, TEXT, 100);
    await set(`channel1:another ${round}`, 'x'.repeat(5_000));
  }
  expect(await bytes()).toContain(SECRET);
  clock.advance(1_000);
  for (let number = 0; number < 100; number += 1) await set(`key ${number}`, 'x'.repeat(1_000));
  await remove(REMOVAL);
  expect(await bytes()).not.toContain(SECRET);
  expect(await get('key 99')).toHaveLength(1_000);
});

test('the table stays within its limit, and the entries that expire next are removed first', async () => {
  const { directory, set, get } = await setUp(2 ** 20);
  const value = 'x'.repeat(10_000);
  await set('lives longest', value, 1_000 * HOUR_MS);
  for (let number = 0; number < 500; number += 1) await set(`key ${number}`, value, HOUR_MS + number);
  expect(storedBytesIn(directory, 'values')).toBeLessThan(1.1 * 2 ** 20);
  expect([await get('lives longest'), await get('key 499'), await get('key 0')]).toEqual([value, value, undefined]);
});
