import { setTimeout } from 'node:timers/promises';
import { LOOK_INTERVAL_MS } from '../../sources/catalog/changes.ts';
import type { CatalogPaths } from '../../sources/catalog/schema.ts';
import { type CatalogWriter, withWriter } from '../../sources/catalog/writer.ts';

/** A timer may fire a millisecond early. */
const SEEN_AFTER_MS = LOOK_INTERVAL_MS + 10;

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
    return await withWriter(paths, work);
  } finally {
    await setTimeout(SEEN_AFTER_MS);
  }
}
