import { statSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';

/**
 * Opens a database for reading, without creating files beside it: an ordinary read-only connection to a database with a
 * write-ahead log makes that log and its index where they are missing, as the user who looks, and leaves them behind.
 * Without a log nobody is writing, so the file counts as one that does not change (sqlite.org/uri.html, `immutable`).
 */
export function openToLook(path: string): DatabaseSync {
  const url = pathToFileURL(path);
  const hasLog = statSync(`${path}-wal`, { throwIfNoEntry: false }) !== undefined;
  if (!hasLog) url.searchParams.set('immutable', '1');
  return new DatabaseSync(url, { readOnly: true });
}
