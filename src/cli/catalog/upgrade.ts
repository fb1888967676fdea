import { openForReading } from '../../sources/catalog/reader.ts';
import { CatalogVersionError, catalogPaths } from '../../sources/catalog/schema.ts';
import { openCatalogWriter } from '../../sources/catalog/writer.ts';
import type { CatalogCommand } from './command.ts';

export const upgradeCommand: CatalogCommand = {
  usage: 'catalog upgrade',
  summary: 'Brings a catalog that an older version has made up to this one.',
  help: `A server never changes a catalog, so it says when this is due. Keep a copy of catalog.db first: an older
version refuses what a newer one has written. "catalog import" and "catalog remove" do it as well.`,
  async run(_given, { dataDir, stdout }) {
    const paths = catalogPaths(dataDir);
    if (isOlder(paths.database)) {
      openCatalogWriter(paths).close();
      stdout.write(`${paths.database} is of this version now.\n`);
    } else {
      stdout.write(`${paths.database} is of this version: nothing to do.\n`);
    }
    return true;
  },
};

function isOlder(path: string): boolean {
  try {
    openForReading(path)?.close();
    return false;
  } catch (error) {
    if (error instanceof CatalogVersionError && error.isOlder) return true;
    throw error;
  }
}
