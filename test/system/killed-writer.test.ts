import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { systemClock } from '../../src/lib/clock.ts';
import { openEntries } from '../helpers/entries.ts';
import { setUpImages } from '../helpers/images.ts';
import { createTemporaryDirectory } from '../helpers/temporary-directory.ts';
import { imageOf, isOriginal, keyOf, originalIdOf } from './endless-writer.ts';

const WRITER = fileURLToPath(import.meta.resolve('./endless-writer.ts'));
const KILLS = 4;

/** Kills the process during a write, after eight completed writes for each dot. */
async function writeUntilKilled(what: 'images' | 'records', path: string, dots: number): Promise<void> {
  const writer = spawn(process.execPath, [WRITER, what, path], { stdio: ['ignore', 'pipe', 'inherit'] });
  const exited = once(writer, 'exit');
  let printed = 0;
  while (printed < dots) printed += ((await once(writer.stdout, 'data')) as [Buffer])[0].length;
  writer.kill('SIGKILL');
  expect(await exited).toEqual([null, 'SIGKILL']);
}

it('a process killed while it stores images leaves no truncated image, no file without a row, and an intact database', async () => {
  const { dataDir, database, originals, logged, open } = await setUpImages({ maxBytes: 20_000_000 });
  for (let kill = 0; kill < KILLS; kill += 1) await writeUntilKilled('images', dataDir, 3 + kill);
  expect(integrityOf(database)).toEqual([{ integrity_check: 'ok' }]);
  const images = await open();
  let found = 0;
  let files = 0;
  for (let number = 0; number < 200; number += 1) {
    const path = isOriginal(number) ? images.findOriginal(originalIdOf(number)) : undefined;
    const bytes = path === undefined ? images.get(keyOf(number)) : await readFile(path);
    if (bytes === undefined) continue;
    found += 1;
    files += path === undefined ? 0 : 1;
    expect(bytes).toEqual(imageOf(number));
  }
  expect(found).toBeGreaterThan(20);
  expect(await readdir(originals)).toHaveLength(files);
  expect(images.usage().entries).toBe(found);
  expect(logged()).toEqual([]);
});

function integrityOf(path: string) {
  const db = new DatabaseSync(path);
  const result = db.prepare('PRAGMA integrity_check').all();
  db.close();
  return result;
}

it('a process killed while it stores records leaves an intact cache.db to the process that shares it', async () => {
  const path = join(await createTemporaryDirectory(), 'cache.db');
  const { table: store, refused, runtime } = openEntries(path, { clock: systemClock });
  let found = 0;
  for (let kill = 0; kill < KILLS; kill += 1) {
    await writeUntilKilled('records', path, 3 + kill);
    await store.set(`own ${kill}`, { value: 'own', storedAtMs: 1 }, 3_600_000);
    for (let number = 0; number < 500; number += 1) {
      const entry = await store.get(`record ${number}`);
      if (entry === undefined) continue;
      found += 1;
      expect(entry.value).toBe(`record ${number}`.repeat(100 + (entry.storedAtMs % 200)));
    }
    expect(await store.get(`own ${kill}`)).toBeDefined();
  }
  await store.close();
  expect(found).toBeGreaterThan(100);
  expect([refused, runtime.health.problems()]).toEqual([[], []]);
  expect(integrityOf(path)).toEqual([{ integrity_check: 'ok' }]);
});
