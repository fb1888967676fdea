import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { type CatalogReader, openForReading } from '../../sources/catalog/reader.ts';
import { catalogPaths } from '../../sources/catalog/schema.ts';

/** Writes as fast as the reader of the output takes it; a reader that has seen enough (`| head`) ends it quietly. */
export async function writeLines(stdout: NodeJS.WritableStream, lines: Iterable<string>): Promise<void> {
  try {
    await pipeline(Readable.from(withLineEnds(lines)), stdout, { end: false });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EPIPE') throw error;
  }
}

function* withLineEnds(lines: Iterable<string>): Generator<string> {
  for (const line of lines) yield `${line}\n`;
}

/**
 * Asks the catalog in `dataDir`; `undefined` when nothing was ever put into it.
 *
 * @throws CatalogUnusableError also when there is no catalog.
 */
export async function withReader<T>(
  dataDir: string,
  work: (reader: CatalogReader) => T | Promise<T>,
): Promise<T | undefined> {
  const catalog = openForReading(catalogPaths(dataDir).database);
  if (catalog === undefined) return undefined;
  try {
    return await work(catalog.reader);
  } finally {
    catalog.close();
  }
}
