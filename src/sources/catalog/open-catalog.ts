import { statSync } from 'node:fs';
import { type CatalogReader, createCatalogReader } from './reader.ts';
import { explainingFailure, hasOwnTables, openExisting } from './schema.ts';

/** Readers never wait for writers (WAL); only recovery after a crash locks them out for a moment. */
const BUSY_TIMEOUT_MS = 2_000;

/** A catalog file that may be replaced, damaged, repaired and filled by others while it is read. */
export interface OpenCatalog {
  /**
   * Asks the file that has the name now. `undefined` while it has no tables yet: nothing was imported.
   *
   * @throws CatalogUnusableError; the next call then opens the file anew.
   */
  ask<T>(question: (reader: CatalogReader) => T): T | undefined;
  close(): void;
}

export interface OpenedCatalog {
  readonly reader: CatalogReader;
  close(): void;
}

export function createOpenCatalog(path: string): OpenCatalog {
  let opened: OpenedCatalog | undefined;
  let openedFile: string | undefined;

  function close(): void {
    opened?.close();
    opened = undefined;
  }

  function ensureOpen(): OpenedCatalog | undefined {
    const file = fileIdentity(path);
    if (file !== openedFile) close();
    openedFile = file;
    opened ??= openForReading(path);
    return opened;
  }

  return {
    ask(question) {
      try {
        return explainingFailure(path, () => {
          const current = ensureOpen();
          return current === undefined ? undefined : question(current.reader);
        });
      } catch (error) {
        close();
        throw error;
      }
    },
    close,
  };
}

/** Differs when another file has taken the name. */
function fileIdentity(path: string): string | undefined {
  const stats = statSync(path, { bigint: true, throwIfNoEntry: false });
  return stats === undefined ? undefined : `${stats.dev}:${stats.ino}`;
}

/**
 * Opens the catalog as it is now. `undefined` while it has no tables yet.
 *
 * @throws CatalogUnusableError
 */
export function openForReading(path: string): OpenedCatalog | undefined {
  const db = openExisting(path, { readOnly: true, busyTimeoutMs: BUSY_TIMEOUT_MS });
  try {
    if (explainingFailure(path, () => hasOwnTables(db, path))) {
      return { reader: createCatalogReader(db), close: () => db.close() };
    }
  } catch (error) {
    db.close();
    throw error;
  }
  db.close();
  return undefined;
}
