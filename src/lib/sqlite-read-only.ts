import { statSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';

/**
 * Reads a database without creating files beside it. An ordinary read-only connection to a database with a
 * write-ahead log creates a missing log and its index as the current user, and does not remove them. Without a log no
 * process is writing, so the file is opened as one that does not change (sqlite.org/uri.html, `immutable`).
 */
export function readDatabase<T>(path: string, read: (db: DatabaseSync) => T): T {
  const url = pathToFileURL(path);
  const hasLog = statSync(`${path}-wal`, { throwIfNoEntry: false }) !== undefined;
  if (!hasLog) url.searchParams.set('immutable', '1');
  const db = new DatabaseSync(url, { readOnly: true });
  try {
    return read(db);
  } finally {
    db.close();
  }
}
