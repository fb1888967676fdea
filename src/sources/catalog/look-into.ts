import { statSync } from 'node:fs';
import type { DatabaseSync } from 'node:sqlite';
import { openToLook } from '../../lib/sqlite-read-only.ts';
import { CatalogUnusableError, CatalogVersionError, explainingFailure, hasOwnTables } from './schema.ts';

/**
 * Looks once into a catalog that may be in use, and leaves nothing beside it. `undefined` where there is none, or one
 * without tables yet.
 *
 * @throws CatalogUnusableError
 */
function lookIntoCatalog<T>(path: string, look: (db: DatabaseSync) => T): T | undefined {
  if (statSync(path, { throwIfNoEntry: false }) === undefined) return undefined;
  return explainingFailure(path, () => {
    const db = openToLook(path);
    try {
      return hasOwnTables(db, path) ? look(db) : undefined;
    } finally {
      db.close();
    }
  });
}

/** How many channels it has; `undefined` and throws as above. */
export function countChannels(path: string): number | undefined {
  return lookIntoCatalog(path, (db) => Number(db.prepare('SELECT count(*) AS channels FROM channels').get()?.channels));
}

/** Why a catalog cannot be used. */
export function findCatalogProblem(path: string): string | undefined {
  return findProblem(path, CatalogUnusableError);
}

/** Why a catalog is not for this version to use. Whatever else is wrong with it a server copes with. */
export function findVersionProblem(path: string): string | undefined {
  return findProblem(path, CatalogVersionError);
}

function findProblem(path: string, kind: typeof CatalogUnusableError | typeof CatalogVersionError): string | undefined {
  try {
    lookIntoCatalog(path, () => undefined);
    return undefined;
  } catch (error) {
    return error instanceof kind ? error.message : undefined;
  }
}
