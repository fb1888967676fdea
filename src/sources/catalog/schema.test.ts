import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, onTestFinished, test } from 'vitest';
import { createTemporaryDirectory } from '../../../test/helpers/temporary-directory.ts';
import { createSchema, hasOwnTables } from './schema.ts';

async function openEmpty() {
  const path = join(await createTemporaryDirectory(), 'catalog.db');
  const db = new DatabaseSync(path);
  onTestFinished(() => db.close());
  return { db, path };
}

test.each([1, 99])('a catalog of another version is refused: %i', async (version) => {
  const { db, path } = await openEmpty();
  createSchema(db);
  db.exec(`PRAGMA user_version = ${version}`);
  expect(() => hasOwnTables(db, path)).toThrow(
    `${path} was written by another version of Pennant (schema ${version}, this one knows 2): run that version`,
  );
});

test('an empty database gets all tables, and a foreign database is refused', async () => {
  const { db, path } = await openEmpty();
  expect(hasOwnTables(db, path)).toBe(false);
  db.exec('CREATE TABLE bookmarks (url)');
  expect(() => hasOwnTables(db, path)).toThrow('is a database of something else');
  db.exec('DROP TABLE bookmarks');
  createSchema(db);
  // Another command may have created them first.
  createSchema(db);
  expect(hasOwnTables(db, path)).toBe(true);
  expect(db.prepare('SELECT title FROM channels').all()).toEqual([]);
});
