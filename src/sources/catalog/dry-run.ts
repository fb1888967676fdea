import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openToLook } from '../../lib/sqlite-read-only.ts';
import { type CatalogPaths, explainingFailure, readSchemaState } from './schema.ts';
import { type CatalogWriter, openCatalogWriter } from './writer.ts';

/**
 * A writer that changes a temporary copy of the catalog and stores no pictures, so that its outcomes are those of a real
 * import. `close` removes the copy.
 *
 * @throws CatalogUnusableError if the catalog is damaged, newer or not a catalog
 */
export function openDryRun({ database, images }: CatalogPaths): CatalogWriter {
  const directory = mkdtempSync(join(tmpdir(), 'pennant-dry-run-'));
  const remove = () => rmSync(directory, { recursive: true, force: true });
  const copy = join(directory, 'catalog.db');
  try {
    if (statSync(database, { throwIfNoEntry: false }) !== undefined) copyDatabase(database, copy);
    const writer = openCatalogWriter({ database: copy, images }, { storesPictures: false });
    return {
      ...writer,
      removeLeftovers: () => undefined,
      close() {
        writer.close();
        remove();
      },
    };
  } catch (error) {
    remove();
    throw error;
  }
}

function copyDatabase(from: string, to: string): void {
  explainingFailure(from, () => {
    const db = openToLook(from);
    try {
      readSchemaState(db, from);
      db.prepare('VACUUM INTO ?').run(to);
    } finally {
      db.close();
    }
  });
}
