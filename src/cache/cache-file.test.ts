import { rename, rm, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, onTestFinished, test } from 'vitest';
import { recordLog } from '../../test/helpers/log.ts';
import { createTestRuntime } from '../../test/helpers/runtime.ts';
import { createTemporaryDirectory } from '../../test/helpers/temporary-directory.ts';
import { createCacheFile } from './cache-file.ts';

const SCHEMA = 'CREATE TABLE notes (key TEXT PRIMARY KEY, note TEXT NOT NULL)';

async function setUp(directory?: string) {
  const path = join(directory ?? (await createTemporaryDirectory()), 'cache.db');
  const { logger, lines } = recordLog();
  const runtime = createTestRuntime({ logger });

  function open(schema = SCHEMA) {
    const file = createCacheFile({ path, schema, runtime });
    onTestFinished(file.close);
    return {
      ...file,
      put: (key: string, note = 'a note') =>
        file.write((sql) => sql('INSERT OR REPLACE INTO notes VALUES (?, ?)').run(key, note)) !== undefined,
      get: (key: string) => file.read((sql) => sql('SELECT note FROM notes WHERE key = ?').get(key)?.note),
    };
  }

  const linesOf = (kind: string) => lines.filter((line) => line.kind === kind);
  return { path, runtime, open, linesOf, conditions: () => runtime.health.conditions().map(({ name }) => name) };
}

const GARBAGE = Buffer.alloc(200_000, 'no database');

test.each<[what: string, prepare: (path: string) => unknown]>([
  ['garbage', (path) => writeFile(path, GARBAGE)],
  ['of another version', (path) => new DatabaseSync(path).exec('CREATE TABLE others (a); PRAGMA user_version = 7')],
])('a file that is %s is created again when it is opened', async (_what, prepare) => {
  const { path, open, linesOf, conditions } = await setUp();
  await prepare(path);
  const file = open();
  expect(file.put('key')).toBe(true);
  expect(file.get('key')).toBe('a note');
  expect(linesOf('rebuilt')).toHaveLength(1);
  expect(conditions()).toEqual([]);
});

test.each<[what: string, damage: (path: string) => Promise<unknown>]>([
  ['overwritten', (path) => writeFile(path, GARBAGE, { flag: 'r+' })],
  ['deleted', (path) => rm(path)],
  ['cut short', (path) => truncate(path, 100)],
  ['replaced', (path) => writeFile(`${path}.new`, GARBAGE).then(() => rename(`${path}.new`, path))],
  ['deleted with its folder', (path) => rm(join(path, '..'), { recursive: true })],
])('a file that is %s under the service is created again', async (_what, damage) => {
  const directory = join(await createTemporaryDirectory(), 'data');
  const { path, open, linesOf, conditions } = await setUp(directory);
  const file = open();
  // More than SQLite keeps in memory.
  for (let number = 0; number < 40; number += 1) file.put(`${number}`, 'x'.repeat(100_000));
  await file.wipeFreePages();
  await damage(path);
  for (let number = 0; number < 40; number += 1) expect(file.get(`${number}`)).toBeUndefined();
  expect(file.put('key')).toBe(true);
  expect(file.get('key')).toBe('a note');
  expect(linesOf('rebuilt')).toHaveLength(1);
  expect(conditions()).toEqual([]);
  file.close();
  expect(new DatabaseSync(path).prepare('PRAGMA integrity_check').get()).toEqual({ integrity_check: 'ok' });
});

test('a condition lasts from a write on a full disk until one that succeeds', async () => {
  const { open, conditions } = await setUp();
  const file = open();
  file.put('earlier');
  const setMaxPages = (pages: number) => file.read((sql) => sql(`PRAGMA max_page_count = ${pages}`).get());
  setMaxPages(1);
  expect(file.put('dropped', 'x'.repeat(100_000))).toBe(false);
  expect(file.get('earlier')).toBe('a note');
  expect(conditions()).toEqual(['cache']);
  setMaxPages(1_000_000);
  file.retry();
  expect(conditions()).toEqual([]);
  expect(file.put('later', 'x'.repeat(100_000))).toBe(true);
});
