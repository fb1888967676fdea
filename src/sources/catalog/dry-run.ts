import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inspectCatalog } from './reader.ts';
import { readSchemaState } from './schema.ts';
import { type CatalogWriter, openCatalogWriter } from './writer.ts';

/**
 * A writer that changes a temporary copy of the catalog and stores no pictures, so that its outcomes are those of a real
 * import. `close` removes the copy.
 *
 * @throws CatalogUnusableError if the catalog is damaged, newer or not a catalog
 */
export function openDryRun(database: string): CatalogWriter {
  const directory = mkdtempSync(join(tmpdir(), 'pennant-dry-run-'));
  const remove = () => rmSync(directory, { recursive: true, force: true });
  const copy = join(directory, 'catalog.db');
  try {
    inspectCatalog(database, (db) => {
      readSchemaState(db, database);
      db.prepare('VACUUM INTO ?').run(copy);
    });
    const writer = openCatalogWriter({ database: copy, images: null });
    return {
      ...writer,
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
