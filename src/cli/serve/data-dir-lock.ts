import { statSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { makeDirectory } from '../../lib/make-directory.ts';

/** What a running service says of itself in its DATA_DIR. */
export interface RunningService {
  readonly pid: number;
  /** Of its listeners, by the setting that names each. */
  readonly ports: Readonly<Record<string, number>>;
}

const FILE = 'service.db';

/** Kept from the garbage collector, which would close them. */
const held: DatabaseSync[] = [];

/**
 * Marks a data directory as in use until this process ends, however it ends: the mark is a lock on a small SQLite file,
 * which the operating system drops with the process. It holds across containers that share the directory.
 *
 * Answers the service that had marked it before, if there is one. A directory that cannot be written stays unmarked.
 */
export function markDataDir(dataDir: string, service: RunningService): RunningService | undefined {
  return unlessInaccessible(() => {
    makeDirectory(dataDir);
    const db = new DatabaseSync(join(dataDir, FILE));
    if (!takeLock(db)) return readAndClose(db);
    // Worth nothing after a power failure: it need not wait for the disk.
    db.exec('ROLLBACK; PRAGMA synchronous = OFF; BEGIN IMMEDIATE');
    db.exec('CREATE TABLE IF NOT EXISTS service (json TEXT NOT NULL); DELETE FROM service');
    db.prepare('INSERT INTO service VALUES (?)').run(JSON.stringify(service));
    db.exec('COMMIT');
    // From here on others can read what was written, and cannot take the lock.
    if (!takeLock(db)) return readAndClose(db);
    held.push(db);
    return undefined;
  });
}

/** The service that runs on this data directory. */
export function findRunningService(dataDir: string): RunningService | undefined {
  const path = join(dataDir, FILE);
  if (statSync(path, { throwIfNoEntry: false }) === undefined) return undefined;
  return unlessInaccessible(() => {
    const db = new DatabaseSync(path);
    if (!takeLock(db)) return readAndClose(db);
    db.close();
    return undefined;
  });
}

const SQLITE_BUSY = 5;

/** False where another process has it. */
function takeLock(db: DatabaseSync): boolean {
  try {
    db.exec('BEGIN IMMEDIATE');
    return true;
  } catch (error) {
    if (error instanceof Error && 'errcode' in error && error.errcode === SQLITE_BUSY) return false;
    throw error;
  }
}

function readAndClose(db: DatabaseSync): RunningService {
  try {
    const row = db.prepare('SELECT json FROM service').get();
    return JSON.parse(String(row?.json)) as RunningService;
  } finally {
    db.close();
  }
}

/** Without the rights, the space or the kind of disk that a lock needs, it cannot be told who runs. */
function unlessInaccessible<T>(work: () => T | undefined): T | undefined {
  try {
    return work();
  } catch (error) {
    if (error instanceof Error && ('errcode' in error || 'syscall' in error)) return undefined;
    throw error;
  }
}
