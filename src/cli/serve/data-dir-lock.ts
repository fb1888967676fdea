import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { isSystemError, makeDirectory } from '../../lib/file-system.ts';
import { primaryCodeOf } from '../../lib/sqlite.ts';

/** The entry of a running service in its DATA_DIR. */
export interface RunningService {
  readonly pid: number;
  /** The ports of its listeners, by setting. */
  readonly ports: Readonly<Record<string, number>>;
}

const FILE = 'service.db';

/** Referenced here, because the garbage collector would close them. */
const held: DatabaseSync[] = [];

/**
 * Marks a data directory as in use until this process ends. The mark is a lock on a small SQLite file, which the operating
 * system releases when the process ends in any way. It works across containers that share the directory.
 *
 * Returns the service that has already marked it, if there is one. A directory that is not writable stays unmarked.
 */
export function markDataDir(dataDir: string, service: RunningService): RunningService | undefined {
  return unlessInaccessible(() => {
    makeDirectory(dataDir);
    const db = new DatabaseSync(join(dataDir, FILE));
    if (!takeLock(db)) return readAndClose(db);
    // The entry has no value after a power failure, so writing it need not wait for the disk.
    db.exec('ROLLBACK; PRAGMA synchronous = OFF; BEGIN IMMEDIATE');
    db.exec('CREATE TABLE IF NOT EXISTS service (json TEXT NOT NULL); DELETE FROM service');
    db.prepare('INSERT INTO service VALUES (?)').run(JSON.stringify(service));
    db.exec('COMMIT');
    // From now on other processes can read the entry and cannot take the lock.
    if (!takeLock(db)) return readAndClose(db);
    held.push(db);
    return undefined;
  });
}

/** The service that is running on this data directory. */
export function findRunningService(dataDir: string): RunningService | undefined {
  const path = join(dataDir, FILE);
  return unlessInaccessible(() => {
    if (!existsSync(path)) return undefined;
    const db = new DatabaseSync(path);
    if (!takeLock(db)) return readAndClose(db);
    db.close();
    return undefined;
  });
}

const SQLITE_BUSY = 5;

/** Returns false if another process has the lock. */
function takeLock(db: DatabaseSync): boolean {
  try {
    db.exec('BEGIN IMMEDIATE');
    return true;
  } catch (error) {
    if (primaryCodeOf(error) === SQLITE_BUSY) return false;
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

/** Without rights, space or lock support on the disk, a running service cannot be detected. */
function unlessInaccessible<T>(work: () => T | undefined): T | undefined {
  try {
    return work();
  } catch (error) {
    if (isSystemError(error) || primaryCodeOf(error) !== 0) return undefined;
    throw error;
  }
}
