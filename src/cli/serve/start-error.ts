import { accessSync, constants, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import type { Config } from '../../config/settings.ts';
import { nearestExisting } from '../../lib/file-system.ts';
import { findCatalogProblem } from '../../sources/catalog/reader.ts';
import { CatalogVersionError, catalogPaths } from '../../sources/catalog/schema.ts';
import { chooseStore } from '../../store/registry.ts';

/**
 * Why the service cannot start with this data directory: a database is of another version, or the only source is a
 * catalog that cannot be used. The service tolerates all other problems.
 */
export function findStartError(config: Config): string | undefined {
  const { dataDir, sources } = config;
  const ofStore = chooseStore(config).findVersionProblem();
  if (ofStore !== undefined || !sources.includes('catalog')) return ofStore;
  const { database } = catalogPaths(dataDir);
  if (sources.length > 1) return findCatalogProblem(database, CatalogVersionError);
  return findCatalogProblem(database) ?? findCreationError(database);
}

/** Why a missing catalog cannot be created. */
function findCreationError(database: string): string | undefined {
  if (statSync(database, { throwIfNoEntry: false }) !== undefined) return undefined;
  try {
    accessSync(nearestExisting(dirname(resolve(database))), constants.W_OK);
    return undefined;
  } catch (error) {
    return `${database} cannot be made: ${(error as Error).message}`;
  }
}
