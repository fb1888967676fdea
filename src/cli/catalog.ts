import { parseConfig } from '../config/settings.ts';
import { printable, printableJson } from '../lib/printable.ts';
import { type CatalogReader, withReader } from '../sources/catalog/reader.ts';
import type { CatalogRecord } from '../sources/catalog/record.ts';
import { type CatalogPaths, catalogPaths } from '../sources/catalog/schema.ts';
import { addCommand } from './catalog/add.ts';
import { changeCatalog, unreadCatalogNotice } from './catalog/change.ts';
import { exportCommand } from './catalog/export.ts';
import { importCommand } from './catalog/import.ts';
import { CommandFailure, type CommandGroup, defineCommand, requireRefs, writeLines } from './command.ts';

const ID_CHARACTERS = 24;
/** Longer handles shift their title. */
const HANDLE_CHARACTERS = 24;

const listCommand = defineCommand({
  usage: 'catalog list [--json]',
  summary: 'Lists ID, handle and title of all channels.',
  help: `Channels with the most subscribers come first.

  --json   a JSON array of objects with channelId, customUrl (the handle) and title`,
  options: { json: { type: 'boolean' } },
  async run({ options: { json = false } }, { env, stdout }) {
    await withReader(catalogPaths(parseConfig(env).dataDir).database, (reader) =>
      writeLines(stdout, json ? jsonLines(reader) : tableLines(reader)),
    );
    return true;
  },
});

const showCommand = defineCommand({
  usage: 'catalog show ID|@handle',
  summary: 'Shows one channel as JSON.',
  help: 'The URL of a channel page and a legacy user name work, too.',
  argumentName: 'ID|@handle',
  async run({ argument }, { env, stdout }) {
    const record = await requireRecord(catalogPaths(parseConfig(env).dataDir), argument);
    stdout.write(`${printableJson(record)}\n`);
    return true;
  },
});

const removeCommand = defineCommand({
  usage: 'catalog remove ID|@handle',
  summary: 'Removes one channel and its images.',
  help: `Images that another channel uses are kept. Each instance has its own catalog: run this command for each.
Exit code: 0 the channel was removed, 1 the catalog has no such channel, 2 invalid arguments.`,
  argumentName: 'ID|@handle',
  async run({ argument }, { env, stdout, stderr }) {
    const paths = catalogPaths(parseConfig(env).dataDir);
    const { channelId, title } = await requireRecord(paths, argument);
    await changeCatalog(paths, (writer) => writer.remove(channelId));
    stdout.write(`Removed ${channelId} (${printable(title)}).\n`);
    stderr.write(unreadCatalogNotice(paths));
    return true;
  },
});

/** @throws CommandFailure if the catalog has no such channel */
async function requireRecord({ database }: CatalogPaths, argument: string): Promise<CatalogRecord> {
  const refs = requireRefs(argument);
  const record = await withReader(database, (reader) => Iterator.from(refs).map(reader.findRecord).find(Boolean));
  if (record === undefined) throw new CommandFailure(`The catalog has no channel ${argument}.`);
  return record;
}

function* tableLines(reader: CatalogReader): Generator<string> {
  yield tableLine('ID', 'HANDLE', 'TITLE');
  for (const { channelId, customUrl, title } of reader.records())
    yield tableLine(channelId, customUrl ?? '–', printable(title));
}

function* jsonLines(reader: CatalogReader): Generator<string> {
  let former = '[';
  for (const { channelId, customUrl, title } of reader.records()) {
    yield former === '[' ? former : `${former},`;
    former = `  ${printableJson({ channelId, customUrl, title }).replaceAll('\n', '\n  ')}`;
  }
  yield former;
  yield ']';
}

function tableLine(id: string, handle: string, title: string): string {
  return `${id.padEnd(ID_CHARACTERS)}  ${handle.padEnd(HANDLE_CHARACTERS)}  ${title}`;
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
  },
};
