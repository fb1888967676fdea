import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, onTestFinished, test } from 'vitest';
import { createTemporaryDirectory } from '../../../test/helpers/temporary-directory.ts';
import { createSchema, readSchemaState } from './schema.ts';

async function openEmpty() {
  const path = join(await createTemporaryDirectory(), 'catalog.db');
  const db = new DatabaseSync(path);
  onTestFinished(() => db.close());
  return { db, path };
}

test.each([2, 99])('a catalog of another version is refused: %i', async (version) => {
  const { db, path } = await openEmpty();
  createSchema(db, path);
  db.exec(`PRAGMA user_version = ${version}`);
  for (const work of [readSchemaState, createSchema]) {
    expect(() => work(db, path)).toThrow(
      `${path} was written by another version of Pennant (schema ${version}, this one knows 3): run that version`,
    );
  }
});

test('an empty database gets all tables, and a foreign database is refused', async () => {
  const { db, path } = await openEmpty();
  expect(readSchemaState(db, path)).toBe('empty');
  db.exec('CREATE TABLE bookmarks (url)');
  expect(() => readSchemaState(db, path)).toThrow('is a database of another program');
  db.exec('DROP TABLE bookmarks');
  createSchema(db, path);
  // Another command may have created them first.
  createSchema(db, path);
  expect(readSchemaState(db, path)).toBe('current');
  expect(db.prepare('SELECT title FROM channels').all()).toEqual([]);
});
