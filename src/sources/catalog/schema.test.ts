import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, onTestFinished, test } from 'vitest';
import { catalogLine, importLines } from '../../../test/helpers/catalog.ts';
import { numberedChannelId } from '../../../test/helpers/fake-source.ts';
import { createTemporaryDirectory } from '../../../test/helpers/temporary-directory.ts';
import { catalogPaths, hasOwnTables, readSchemaState, SCHEMA_STEPS, upgradeSchema } from './schema.ts';

/** A change that a future version might make. */
const NEXT_STEPS = [
  ...SCHEMA_STEPS,
  'ALTER TABLE channels ADD COLUMN language TEXT;',
  "UPDATE channels SET language = 'en';",
];

/** A catalog of this version with one channel. */
async function openFilled() {
  const dataDir = await createTemporaryDirectory();
  await importLines(dataDir, [catalogLine(1)]);
  const path = catalogPaths(dataDir).database;
  const db = new DatabaseSync(path);
  onTestFinished(() => db.close());
  return { db, path };
}

test('an older catalog is reported by readers, and upgraded with its channels by writers', async () => {
  const { db, path } = await openFilled();
  expect(readSchemaState(db, path, NEXT_STEPS)).toBe('older');
  expect(() => hasOwnTables(db, path, NEXT_STEPS)).toThrow(
    `${path} was written by an older Pennant: run "pennant catalog upgrade".`,
  );
  upgradeSchema(db, NEXT_STEPS);
  expect(hasOwnTables(db, path, NEXT_STEPS)).toBe(true);
  const rows = db.prepare('SELECT channel_id, language FROM channels').all();
  expect(rows.map((row) => ({ ...row }))).toEqual([{ channel_id: numberedChannelId(1), language: 'en' }]);
  // Another command may have upgraded it first.
  upgradeSchema(db, NEXT_STEPS);
  expect(db.prepare('PRAGMA user_version').get()?.user_version).toBe(NEXT_STEPS.length);
});

test('a newer catalog is rejected by readers and writers', async () => {
  const { db, path } = await openFilled();
  upgradeSchema(db, NEXT_STEPS);
  for (const look of [readSchemaState, hasOwnTables]) {
    expect(() => look(db, path)).toThrow(
      /was written by a newer Pennant \(schema 3, this one knows 1\): run that version/,
    );
  }
});

test('an empty database gets all tables, and a foreign database is not changed', async () => {
  const directory = await createTemporaryDirectory();
  const path = join(directory, 'catalog.db');
  const db = new DatabaseSync(path);
  onTestFinished(() => db.close());
  expect(hasOwnTables(db, path, NEXT_STEPS)).toBe(false);
  db.exec('CREATE TABLE bookmarks (url)');
  expect(() => readSchemaState(db, path, NEXT_STEPS)).toThrow('is a database of something else');
  db.exec('DROP TABLE bookmarks');
  upgradeSchema(db, NEXT_STEPS);
  expect(hasOwnTables(db, path, NEXT_STEPS)).toBe(true);
  expect(db.prepare('SELECT language FROM channels').all()).toEqual([]);
});
