import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { createDirectory, isSystemError } from '../../lib/file-system.ts';
import { isLocked, primaryCodeOf } from '../../lib/sqlite.ts';

const FILE = 'service.db';

/** Referenced here, because the garbage collector would close them. */
const held: DatabaseSync[] = [];

/**
 * Marks a data directory as in use until this process ends. The mark is a lock on an empty SQLite file, which the operating
 * system releases when the process ends in any way. It works across containers that share the directory.
 *
 * @returns false if another service has marked it. A directory that is not writable stays unmarked.
 */
export function markDataDir(dataDir: string): boolean {
  return isFree(() => {
    createDirectory(dataDir);
    held.push(takeLock(dataDir));
  });
}

/** True if a service is running on this data directory. */
export function isMarked(dataDir: string): boolean {
  return existsSync(join(dataDir, FILE)) && !isFree(() => takeLock(dataDir).close());
}

function takeLock(dataDir: string): DatabaseSync {
  const db = new DatabaseSync(join(dataDir, FILE));
  // A process that is killed would leave a journal file behind.
  db.exec('PRAGMA journal_mode = MEMORY; BEGIN IMMEDIATE');
  return db;
}

/** False if another process has the lock. Without rights, space or lock support on the disk, a lock cannot be detected. */
function isFree(lock: () => void): boolean {
  try {
    lock();
  } catch (error) {
    if (isLocked(error)) return false;
    if (!isSystemError(error) && primaryCodeOf(error) === 0) throw error;
  }
  return true;
}
