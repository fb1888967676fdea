import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, onTestFinished, test } from 'vitest';
import { catalogLine, importLines } from '../../../test/helpers/catalog.ts';
import { createTemporaryDirectory } from '../../../test/helpers/temporary-directory.ts';
import { catalogPaths, createTables, hasOwnTables } from './schema.ts';
import { openCatalogWriter } from './writer.ts';

function open(path: string): DatabaseSync {
  const db = new DatabaseSync(path);
  onTestFinished(() => db.close());
  return db;
}

test('a newer catalog is rejected by readers and writers, and stays as it is', async () => {
  const dataDir = await createTemporaryDirectory();
  await importLines(dataDir, [catalogLine(1)]);
  const paths = catalogPaths(dataDir);
  const db = open(paths.database);
  db.exec('PRAGMA user_version = 2');
  const message = /was written by a newer Pennant \(schema 2, this one knows 1\): run that version/;
  expect(() => hasOwnTables(db, paths.database)).toThrow(message);
  expect(() => openCatalogWriter(paths)).toThrow(message);
  expect(db.prepare('PRAGMA user_version').get()?.user_version).toBe(2);
});

test('an empty database gets all tables, and a foreign database is not changed', async () => {
  const path = join(await createTemporaryDirectory(), 'catalog.db');
  const db = open(path);
  expect(hasOwnTables(db, path)).toBe(false);
  db.exec('CREATE TABLE bookmarks (url)');
  expect(() => hasOwnTables(db, path)).toThrow('is a database of something else');
  db.exec('DROP TABLE bookmarks');
  createTables(db);
  expect(hasOwnTables(db, path)).toBe(true);
  expect(db.prepare('SELECT * FROM channels').all()).toEqual([]);
});
