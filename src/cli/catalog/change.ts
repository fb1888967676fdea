import { readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { LOOK_INTERVAL_MS } from '../../sources/catalog/changes.ts';
import { updateCatalog } from '../../sources/catalog/new-catalog.ts';
import type { CatalogPaths } from '../../sources/catalog/schema.ts';
import type { CatalogWriter } from '../../sources/catalog/writer.ts';
import { findRunningService } from '../serve/data-dir-lock.ts';

/** A timer may fire a millisecond early. */
const SEEN_AFTER_MS = LOOK_INTERVAL_MS + 10;

/**
 * Says where the changed catalog is if no service reads it, because the command may lack the settings of the service. Names a
 * folder below it that a service uses: several instances may have their folders there. '' if a service reads the catalog.
 */
export function unreadCatalogNotice({ database }: CatalogPaths): string {
  const dataDir = dirname(database);
  if (findRunningService(dataDir) !== undefined) return '';
  const folders = readdirSync(dataDir, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  const [used] = folders
    .map(({ name }) => join(dataDir, name))
    .filter((folder) => findRunningService(folder) !== undefined)
    .toSorted();
  const advice = used === undefined ? '' : ` One runs on ${used}: name it with --data-dir DIR.`;
  return `The catalog is ${database}. No service runs on it.${advice}\n`;
}

/**
 * Changes the catalog, and ends when a running service sees the changes at its next request.
 *
 * @throws CatalogUnusableError
 */
export async function changeCatalog<T>(
  paths: CatalogPaths,
  work: (writer: CatalogWriter) => Promise<T> | T,
): Promise<T> {
  try {
    return await updateCatalog(paths, work);
  } finally {
    await setTimeout(SEEN_AFTER_MS);
  }
}
