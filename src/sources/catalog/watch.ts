import { statSync } from 'node:fs';
import { DatabaseSync, type StatementSync } from 'node:sqlite';
import type { Clock } from '../../lib/clock.ts';
import { type CatalogPosition, type ChangesSince, readChangesSince } from './change-log.ts';

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
