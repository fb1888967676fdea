import { randomBytes } from 'node:crypto';
import { statSync } from 'node:fs';
import { DatabaseSync, type StatementSync } from 'node:sqlite';
import type { Clock } from '../../lib/clock.ts';

/*
 * Which channels were changed last, so that a running service forgets what it has of them and nothing else. Versions that
 * do not know these tables leave them alone, so the schema's version stays.
 */
const TABLES = `
  CREATE TABLE IF NOT EXISTS changes (
    sequence INTEGER PRIMARY KEY AUTOINCREMENT,
    channel_id TEXT NOT NULL,
    names TEXT NOT NULL, -- JSON: handles and user names of before and after
    is_removed INTEGER NOT NULL
  ) STRICT;
  CREATE TABLE IF NOT EXISTS change_log (id TEXT NOT NULL) STRICT;
`;

/** A reader that has missed more forgets everything. */
const MAX_CHANGES = 10_000;

export interface LoggedChange {
  readonly channelId: string;
  /** `handle:…`, `username:…` (`nameOf`). */
  readonly names: readonly string[];
  readonly isRemoved: boolean;
}

/** A place in a catalog's log. */
export interface CatalogPosition {
  /** Of the log: another catalog has another. */
  readonly id: string;
  readonly sequence: number;
}

export interface ChangesSince {
  readonly position: CatalogPosition;
  /** `'unknown'` where the log does not reach back so far, or is another catalog's. */
  readonly changes: readonly LoggedChange[] | 'unknown';
}

/** Writes the log. All within the caller's write transaction. */
export interface ChangeLogWriter {
  add(changes: readonly LoggedChange[]): void;
}

export function createChangeLogWriter(db: DatabaseSync): ChangeLogWriter {
  const insert = db.prepare('INSERT INTO changes (channel_id, names, is_removed) VALUES (?, ?, ?)');
  const trim = db.prepare('DELETE FROM changes WHERE sequence <= (SELECT max(sequence) FROM changes) - ?');
  return {
    add(changes) {
      for (const { channelId, names, isRemoved } of changes)
        insert.run(channelId, JSON.stringify(names), Number(isRemoved));
      trim.run(MAX_CHANGES);
    },
  };
}

/** Makes the tables where they are missing. The caller holds a write transaction. */
export function ensureChangeLog(db: DatabaseSync): void {
  db.exec(TABLES);
  if (db.prepare('SELECT id FROM change_log').get() !== undefined) return;
  db.prepare('INSERT INTO change_log (id) VALUES (?)').run(randomBytes(16).toString('hex'));
}

/** Begins the log at its first sequence number again. The caller holds a write transaction. */
export function emptyChangeLog(db: DatabaseSync): void {
  db.exec("DELETE FROM changes; DELETE FROM sqlite_sequence WHERE name = 'changes'");
}

/** `undefined` in a catalog that no version with a log has changed yet. */
export function readChangesSince(db: DatabaseSync, since: CatalogPosition | undefined): ChangesSince | undefined {
  if (db.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'change_log'").get() === undefined) return undefined;
  const { id, first, last } = db
    .prepare('SELECT (SELECT id FROM change_log) AS id, min(sequence) AS first, max(sequence) AS last FROM changes')
    .get() as { id: string; first: number | null; last: number | null };
  const position = { id, sequence: last ?? 0 };
  // Without a place to start from, the log is as old as the tables: everything before is older than any value here.
  const start = since ?? { id, sequence: 0 };
  const reaches = (first ?? 1) <= start.sequence + 1 && start.sequence <= position.sequence;
  if (start.id !== id || !reaches) return { position, changes: 'unknown' };
  const rows = db
    .prepare('SELECT channel_id AS channelId, names, is_removed AS isRemoved FROM changes WHERE sequence > ?')
    .all(start.sequence) as unknown as { channelId: string; names: string; isRemoved: number }[];
  return {
    position,
    changes: rows.map(({ channelId, names, isRemoved }) => ({
      channelId,
      names: JSON.parse(names) as string[],
      isRemoved: isRemoved === 1,
    })),
  };
}

/** Notices what other processes change in the catalog. */
export interface CatalogWatch {
  /**
   * What has changed since the last call, or since the start position; `undefined`: nothing. Takes 2 µs where nothing has
   * changed, for it is called for every request, on the event loop: a thread would answer too late.
   */
  findChanges(): ChangesSince | undefined;
  close(): void;
}

export interface CatalogWatchOptions {
  readonly path: string;
  readonly clock: Clock;
  /** Up to where an earlier run has applied the changes. */
  readonly start: CatalogPosition | undefined;
}

/** How soon a file that took the name is noticed, and how often one that cannot be used is tried. */
const CHECK_FILE_MS = 1_000;

interface OpenFile {
  readonly db: DatabaseSync;
  /** Differs when another connection has committed something (sqlite.org/pragma.html#pragma_data_version). */
  readonly dataVersion: StatementSync;
  readonly inode: bigint;
}

export function createCatalogWatch({ path, clock, start }: CatalogWatchOptions): CatalogWatch {
  let file: OpenFile | undefined;
  let seenVersion: unknown;
  let position = start;
  let checkFileAtMs = Number.NEGATIVE_INFINITY;
  let retryAtMs = Number.NEGATIVE_INFINITY;

  function close(): void {
    file?.db.close();
    file = undefined;
    seenVersion = undefined;
  }

  function current(): OpenFile | undefined {
    const nowMs = clock.monotonic();
    if (file !== undefined && nowMs < checkFileAtMs) return file;
    checkFileAtMs = nowMs + CHECK_FILE_MS;
    const inode = statSync(path, { bigint: true, throwIfNoEntry: false })?.ino;
    if (file !== undefined && inode !== file.inode) close();
    if (file !== undefined || inode === undefined) return file;
    // Whoever holds the lock for a moment is not waited for: the next request looks again.
    const db = new DatabaseSync(path, { readOnly: true, timeout: 0 });
    file = { db, dataVersion: db.prepare('PRAGMA data_version'), inode };
    return file;
  }

  function findChanges(): ChangesSince | undefined {
    const opened = current();
    if (opened === undefined) return undefined;
    const version = opened.dataVersion.get()?.data_version;
    if (version === seenVersion) return undefined;
    const found = readChangesSince(opened.db, position);
    seenVersion = version;
    if (found === undefined) return undefined;
    const isNew = found.position.id !== position?.id || found.position.sequence !== position.sequence;
    position = found.position;
    return isNew ? found : undefined;
  }

  return {
    findChanges() {
      if (clock.monotonic() < retryAtMs) return undefined;
      try {
        return findChanges();
      } catch {
        // The catalog's own reader says what is wrong with the file.
        close();
        retryAtMs = clock.monotonic() + CHECK_FILE_MS;
        return undefined;
      }
    },
    close,
  };
}
