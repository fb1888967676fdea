import { DatabaseSync } from 'node:sqlite';
import { onTestFinished } from 'vitest';
import { foldText, indexedText } from '../../src/sources/catalog/folded-text.ts';
import { createSchema } from '../../src/sources/catalog/schema.ts';

/** A catalog of channels with these titles. The first one has the most subscribers. */
export function catalogOfTitles(titles: readonly string[]): DatabaseSync {
  const db = new DatabaseSync(':memory:');
  onTestFinished(() => db.close());
  createSchema(db, ':memory:');
  const insertRow = db.prepare(
    'INSERT INTO channels (row, channel_id, title_key, title, imported_at_ms) VALUES (?, ?, ?, ?, 0)',
  );
  const insertText = db.prepare("INSERT INTO channel_text (rowid, handle, title, description) VALUES (?, '', ?, '')");
  for (const [row, title] of titles.entries()) {
    insertRow.run(row, `UC${row}`, foldText(title), title);
    insertText.run(row, indexedText(title));
  }
  return db;
}
