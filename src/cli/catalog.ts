import { openForReading } from '../sources/catalog/reader.ts';
import { CatalogUnusableError, CatalogVersionError, catalogPaths, explainFailure } from '../sources/catalog/schema.ts';
import { openCatalogWriter } from '../sources/catalog/writer.ts';
import { addCommand } from './catalog/add.ts';
import type { CatalogCommand, CatalogContext } from './catalog/command.ts';
import { exportCommand } from './catalog/export.ts';
import { importCommand } from './catalog/import.ts';
import { listCommand, removeCommand, showCommand } from './catalog/records.ts';
import { type CommandGroup, runCommandGroup } from './command-group.ts';
import { systemFailure } from './command-line.ts';

const upgradeCommand: CatalogCommand = {
  usage: 'catalog upgrade',
  summary: 'Upgrades a catalog of an older version.',
  help: `The service never changes a catalog; it reports when an upgrade is needed. Keep a copy of catalog.db: older
versions cannot read an upgraded catalog. "catalog import" and "catalog remove" upgrade it, too.`,
  async run(_given, { dataDir, stdout }) {
    const paths = catalogPaths(dataDir);
    if (isOlder(paths.database)) {
      openCatalogWriter(paths).close();
      stdout.write(`${paths.database} is upgraded to this version.\n`);
    } else {
      stdout.write(`${paths.database} already has this version.\n`);
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
  about: 'Your own channels, in catalog.db.',
  commands: {
    add: addCommand,
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
 * Runs `catalog add|import|export|list|show|remove|upgrade` and returns the exit code: 0 done, 1 failed in part or whole (a
 * rejected line, no such channel, an unusable catalog), 2 invalid arguments. `--data-dir` replaces `dataDir`.
 */
export function runCatalogCommand(args: readonly string[], context: CatalogContext): Promise<number> {
  return runCommandGroup(CATALOG, args, context);
}
