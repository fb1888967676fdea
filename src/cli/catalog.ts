import { parseConfig } from '../config/settings.ts';
import { inspectCatalog, requireCatalog } from '../sources/catalog/reader.ts';
import { catalogPaths, readSchemaState } from '../sources/catalog/schema.ts';
import { openCatalogWriter } from '../sources/catalog/writer.ts';
import { addCommand } from './catalog/add.ts';
import { exportCommand } from './catalog/export.ts';
import { importCommand } from './catalog/import.ts';
import { listCommand, removeCommand, showCommand } from './catalog/records.ts';
import { type CommandGroup, defineCommand } from './command.ts';

const upgradeCommand = defineCommand({
  usage: 'catalog upgrade',
  summary: 'Upgrades a catalog of an older version.',
  help: `The service never changes a catalog; it reports when an upgrade is needed. Keep a copy of catalog.db: older
versions cannot read an upgraded catalog. "catalog import" and "catalog remove" upgrade it, too.`,
  async run(_given, { env, stdout }) {
    const paths = catalogPaths(parseConfig(env).dataDir);
    requireCatalog(paths.database);
    const isOutdated = inspectCatalog(paths.database, (db) => readSchemaState(db, paths.database)) === 'older';
    if (isOutdated) openCatalogWriter(paths).close();
    stdout.write(`${paths.database} ${isOutdated ? 'is upgraded to' : 'already has'} this version.\n`);
    return true;
  },
});

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
