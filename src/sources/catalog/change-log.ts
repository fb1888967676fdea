import { randomBytes } from 'node:crypto';
import { statSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import type { Clock } from '../../lib/clock.ts';

/** The latest changes of channels. A running service removes only the cached data of these channels. */
export const CHANGE_LOG_SCHEMA = `
  CREATE TABLE changes (
    sequence INTEGER PRIMARY KEY AUTOINCREMENT,
    channel_id TEXT NOT NULL,
    names TEXT NOT NULL, -- JSON: handles and user names before and after
    is_removed INTEGER NOT NULL
  ) STRICT;
  CREATE TABLE change_log (id TEXT NOT NULL) STRICT;
`;

/** A reader that has missed more changes must treat every channel as changed. */
const MAX_CHANGES = 10_000;

export interface LoggedChange {
  readonly channelId: string;
  /** `handle:…`, `username:…` (`nameOf`). */
  readonly names: readonly string[];
  readonly isRemoved: boolean;
}

/** A position in the log of a catalog. */
export interface CatalogPosition {
  /** The ID of the log. Each catalog has another one. */
  readonly id: string;
  readonly sequence: number;
}

export interface ChangesSince {
  readonly position: CatalogPosition;
  /** `'unknown'` if the log does not reach back far enough, or belongs to another catalog. */
  readonly changes: readonly LoggedChange[] | 'unknown';
}

/** Writes the log, inside the caller's write transaction. */
export function logChanges(db: DatabaseSync, changes: readonly LoggedChange[]): void {
  const insert = db.prepare('INSERT INTO changes (channel_id, names, is_removed) VALUES (?, ?, ?)');
  for (const { channelId, names, isRemoved } of changes) {
    insert.run(channelId, JSON.stringify(names), Number(isRemoved));
  }
  db.prepare('DELETE FROM changes WHERE sequence <= (SELECT max(sequence) FROM changes) - ?').run(MAX_CHANGES);
}

/** Gives the log of a new catalog its ID, inside the caller's write transaction. */
export function nameChangeLog(db: DatabaseSync): void {
  db.prepare('INSERT INTO change_log (id) VALUES (?)').run(randomBytes(16).toString('hex'));
}

/** Empties the log and restarts its sequence numbers, inside the caller's write transaction. */
export function emptyChangeLog(db: DatabaseSync): void {
  db.exec("DELETE FROM changes; DELETE FROM sqlite_sequence WHERE name = 'changes'");
}

/** `undefined` for a database without a log, which is no catalog of this version. */
export function readChangesSince(db: DatabaseSync, since: CatalogPosition | undefined): ChangesSince | undefined {
  if (db.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'change_log'").get() === undefined) return undefined;
  const { id, first, last } = db
    .prepare('SELECT (SELECT id FROM change_log) AS id, min(sequence) AS first, max(sequence) AS last FROM changes')
    .get() as { id: string; first: number | null; last: number | null };
  const position = { id, sequence: last ?? 0 };
  // Without a start position the whole log counts: everything before it is older than any cached value.
  const start = since ?? { id, sequence: 0 };
  const reaches = (first ?? 1) <= start.sequence + 1 && start.sequence <= position.sequence;
  if (start.id !== id || !reaches) return { position, changes: 'unknown' };
  const rows = db
    .prepare('SELECT channel_id AS channelId, names, is_removed AS isRemoved FROM changes WHERE sequence > ?')
    .all(start.sequence);
  const changes = rows.map(({ channelId, names, isRemoved }) => ({
    channelId: String(channelId),
    names: JSON.parse(String(names)) as string[],
    isRemoved: isRemoved === 1,
  }));
  return { position, changes };
}

export interface CatalogWatchOptions {
  readonly path: string;
  readonly clock: Clock;
  /** The position up to which an earlier run has applied the changes. */
  readonly start: CatalogPosition | undefined;
  readonly onChanges: (found: ChangesSince) => void;
}

/** How often the file is checked for replacement, and an unusable file is tried again. */
const CHECK_FILE_MS = 1_000;

/** How long the first read may wait for another thread or process that opens the catalog. */
const FIRST_READ_WAIT_MS = 5_000;

function openFile(path: string, inode: bigint) {
  // Waits for no lock: a later check tries again.
  const db = new DatabaseSync(path, { readOnly: true, timeout: 0 });
  // Changes when another connection commits (sqlite.org/pragma.html#pragma_data_version).
  const dataVersion = db.prepare('PRAGMA data_version');
  return { db, dataVersion, inode };
}

/** Detects changes of the catalog by other processes. */
export function createCatalogWatch({ path, clock, start, onChanges }: CatalogWatchOptions) {
  let file: ReturnType<typeof openFile> | undefined;
  let seenVersion: unknown;
  let isChecked = false;
  let position = start;
  let checkFileAtMs = Number.NEGATIVE_INFINITY;
  let retryAtMs = Number.NEGATIVE_INFINITY;

  function close(): void {
    file?.db.close();
    file = undefined;
    seenVersion = undefined;
  }

  function current() {
    const nowMs = clock.monotonic();
    if (file !== undefined && nowMs < checkFileAtMs) return file;
    checkFileAtMs = nowMs + CHECK_FILE_MS;
    const inode = statSync(path, { bigint: true, throwIfNoEntry: false })?.ino;
    if (inode !== file?.inode) close();
    if (inode !== undefined) file ??= openFile(path, inode);
    return file;
  }

  function findChanges(waitMs: number): ChangesSince | undefined {
    const opened = current();
    if (opened === undefined) return undefined;
    if (waitMs > 0) opened.db.exec(`PRAGMA busy_timeout = ${waitMs}`);
    const version = opened.dataVersion.get()?.data_version;
    if (version === seenVersion) return undefined;
    const found = readChangesSince(opened.db, position);
    if (waitMs > 0) opened.db.exec('PRAGMA busy_timeout = 0');
    seenVersion = version;
    if (found === undefined) return undefined;
    const isNew = found.position.id !== position?.id || found.position.sequence !== position.sequence;
    position = found.position;
    return isNew ? found : undefined;
  }

  function report(waitMs: number): void {
    let found: ChangesSince | undefined;
    try {
      found = findChanges(waitMs);
    } catch {
      // The reader of the catalog reports what is wrong with the file.
      close();
      retryAtMs = clock.monotonic() + CHECK_FILE_MS;
    }
    if (found !== undefined) onChanges(found);
  }

  return {
    /**
     * The first check, before any request. It may block the event loop, because a change that is found after the first
     * request would remove that request's results.
     */
    start: (): void => report(FIRST_READ_WAIT_MS),

    /**
     * Calls `onChanges` if there are changes since the last check, or since the start position. It is called for every
     * request on the event loop, because a thread would respond too late. The file is read once per turn of the event
     * loop: that takes 2 µs if nothing has changed, and the requests of a turn had arrived before it began.
     */
    check(): undefined {
      if (isChecked || clock.monotonic() < retryAtMs) return;
      isChecked = true;
      setImmediate(() => {
        isChecked = false;
      });
      report(0);
    },
    close,
  };
}
