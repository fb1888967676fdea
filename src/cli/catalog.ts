import { CatalogUnusableError, catalogPaths, explainFailure } from '../sources/catalog/schema.ts';
import type { CatalogContext } from './catalog/command.ts';
import { exportCommand } from './catalog/export.ts';
import { importCommand } from './catalog/import.ts';
import { listCommand, removeCommand, showCommand } from './catalog/records.ts';
import { upgradeCommand } from './catalog/upgrade.ts';
import { type CommandGroup, runCommandGroup } from './command-group.ts';
import { systemFailure } from './failure.ts';

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
