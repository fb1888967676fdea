import { parseConfig } from '../config/settings.ts';
import { openForReading } from '../sources/catalog/reader.ts';
import { CatalogOutdatedError, catalogPaths } from '../sources/catalog/schema.ts';
import { addCommand } from './catalog/add.ts';
import { exportCommand } from './catalog/export.ts';
import { importCommand } from './catalog/import.ts';
import { withWriter } from './catalog/open.ts';
import { listCommand, removeCommand, showCommand } from './catalog/records.ts';
import { type CommandGroup, defineCommand } from './command.ts';

const upgradeCommand = defineCommand({
  usage: 'catalog upgrade',
  summary: 'Upgrades a catalog of an older version.',
  help: `The service never changes a catalog; it reports when an upgrade is needed. Keep a copy of catalog.db: older
versions cannot read an upgraded catalog. "catalog import" and "catalog remove" upgrade it, too.`,
  async run(_given, { env, stdout }) {
    const paths = catalogPaths(parseConfig(env).dataDir);
    const isOutdated = isOlder(paths.database);
    if (isOutdated) await withWriter(paths, () => undefined);
    stdout.write(`${paths.database} ${isOutdated ? 'is upgraded to' : 'already has'} this version.\n`);
    return true;
  },
});

function isOlder(path: string): boolean {
  try {
    openForReading(path)?.close();
    return false;
  } catch (error) {
    if (error instanceof CatalogOutdatedError) return true;
    throw error;
  }
}

export const catalogCommands: CommandGroup = {
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
};
