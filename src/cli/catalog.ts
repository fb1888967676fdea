import { openForReading } from '../sources/catalog/reader.ts';
import { CatalogUnusableError, CatalogVersionError, catalogPaths, explainFailure } from '../sources/catalog/schema.ts';
import { openCatalogWriter } from '../sources/catalog/writer.ts';
import type { CatalogCommand, CatalogContext } from './catalog/command.ts';
import { exportCommand } from './catalog/export.ts';
import { importCommand } from './catalog/import.ts';
import { listCommand, removeCommand, showCommand } from './catalog/records.ts';
import { type CommandGroup, runCommandGroup } from './command-group.ts';
import { systemFailure } from './command-line.ts';

const upgradeCommand: CatalogCommand = {
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

const CATALOG: CommandGroup<CatalogContext> = {
  about: 'The operator’s own channels, in catalog.db.',
  commands: {
    import: importCommand,
    export: exportCommand,
    list: listCommand,
    show: showCommand,
    remove: removeCommand,
    upgrade: upgradeCommand,
  },
  describeFailure(thrown, { dataDir }) {
    const error = explainFailure(catalogPaths(dataDir).database, thrown);
    return error instanceof CatalogUnusableError ? error.message : systemFailure(error);
  },
};

/**
 * Runs `catalog import|export|list|show|remove|upgrade` and answers the exit code: 0 done, 1 not all of it (a refused line, no
 * such channel, an unusable catalog), 2 unusable arguments. `dataDir` gives way to `--data-dir`.
 */
export function runCatalogCommand(args: readonly string[], context: CatalogContext): Promise<number> {
  return runCommandGroup(CATALOG, args, context);
}
