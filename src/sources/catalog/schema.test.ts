import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, onTestFinished, test } from 'vitest';
import { catalogLine, importLines } from '../../../test/helpers/catalog.ts';
import { numberedChannelId } from '../../../test/helpers/fake-source.ts';
import { createTemporaryDirectory } from '../../../test/helpers/temporary-directory.ts';
import { channelIdRef } from '../../domain/identifier.ts';
import { withReader } from './reader.ts';
import { catalogPaths, createSchema, readSchemaState } from './schema.ts';
import { upgradeCatalog } from './writer.ts';

async function openEmpty() {
  const path = join(await createTemporaryDirectory(), 'catalog.db');
  const db = new DatabaseSync(path);
  onTestFinished(() => db.close());
  return { db, path };
}

test.each([1, 99])('a catalog of another version is refused: %i', async (version) => {
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

test('a catalog of the version before is read as it is, and upgraded with all its channels', async () => {
  const dataDir = await createTemporaryDirectory();
  const { database } = catalogPaths(dataDir);
  await importLines(dataDir, [catalogLine(1), catalogLine(2)]);
  const db = new DatabaseSync(database);
  db.exec('ALTER TABLE channels DROP COLUMN imported_at_ms; PRAGMA user_version = 2');
  db.close();
  const titles = () => withReader(database, (reader) => [...reader.records()].map(({ title }) => title).sort());
  expect(await titles()).toEqual(['Channel 1', 'Channel 2']);

  upgradeCatalog(database);
  expect(await titles()).toEqual(['Channel 1', 'Channel 2']);
  await importLines(dataDir, [catalogLine(3)]);
  const found = await withReader(database, (reader) => reader.findChannel(channelIdRef(numberedChannelId(3))));
  expect(found?.title).toBe('Channel 3');
});
