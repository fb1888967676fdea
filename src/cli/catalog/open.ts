import type { ChannelRef } from '../../domain/identifier.ts';
import { type CatalogReader, openForReading } from '../../sources/catalog/reader.ts';
import type { CatalogRecord } from '../../sources/catalog/record.ts';
import { type CatalogPaths, explainFailure, explainingFailure } from '../../sources/catalog/schema.ts';
import { type CatalogWriter, openCatalogWriter } from '../../sources/catalog/writer.ts';

/**
 * Queries a catalog; `undefined` if it has no tables yet.
 *
 * @throws CatalogUnusableError also if there is no catalog
 */
export async function withReader<T>(
  { database }: CatalogPaths,
  work: (reader: CatalogReader) => T | Promise<T>,
): Promise<T | undefined> {
  const reader = openForReading(database);
  if (reader === undefined) return undefined;
  try {
    return await work(reader);
  } catch (error) {
    throw explainFailure(database, error);
  } finally {
    reader.close();
  }
}

/**
 * Changes a catalog, which is created if there is none.
 *
 * @throws CatalogUnusableError
 */
export async function withWriter<T>(paths: CatalogPaths, work: (writer: CatalogWriter) => T | Promise<T>): Promise<T> {
  const writer = explainingFailure(paths.database, () => openCatalogWriter(paths));
  try {
    return await work(writer);
  } finally {
    writer.close();
  }
}

/** Returns the record of the first reference that the catalog has. */
export function findRecord(paths: CatalogPaths, refs: readonly ChannelRef[]): Promise<CatalogRecord | undefined> {
  return withReader(paths, (reader) => Iterator.from(refs).map(reader.findRecord).find(Boolean));
}
