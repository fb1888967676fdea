import type { ChannelRef } from '../../domain/identifier.ts';
import { printable, printableJson } from '../../domain/printable.ts';
import type { CatalogReader } from '../../sources/catalog/reader.ts';
import type { CatalogRecord } from '../../sources/catalog/record.ts';
import { catalogPaths } from '../../sources/catalog/schema.ts';
import { openCatalogWriter } from '../../sources/catalog/writer.ts';
import { CacheCommandError } from '../cache/command.ts';
import { requireRefs } from '../command-group.ts';
import { type CatalogCommand, withReader, writeLines } from './command.ts';

const ID_CHARACTERS = 24;
/** Longer handles shift their title. */
const HANDLE_CHARACTERS = 24;

export const listCommand: CatalogCommand = {
  usage: 'catalog list [--json]',
  summary: 'Lists ID, handle and title of all channels.',
  help: `Channels with the most subscribers come first.

  --json   a JSON array of objects with channelId, customUrl (the handle) and title`,
  options: { json: { type: 'boolean' } },
  async run({ options }, { dataDir, stdout }) {
    const isJson = options.json === true;
    const lines = (reader: CatalogReader) => (isJson ? jsonLines(reader) : tableLines(reader));
    const isRead = await withReader(dataDir, async (reader) => {
      await writeLines(stdout, lines(reader));
      return true;
    });
    if (isRead === undefined && isJson) stdout.write('[]\n');
    return true;
  },
};

export const showCommand: CatalogCommand = {
  usage: 'catalog show ID|@handle',
  summary: 'Shows one channel as JSON.',
  help: 'The URL of a channel page and a legacy user name work, too.',
  argumentName: 'ID|@handle',
  async run({ argument }, { dataDir, stdout, stderr }) {
    const refs = requireRefs(argument);
    const record = await findInCatalog(dataDir, refs);
    if (record === undefined) stderr.write(`The catalog has no channel ${printable(argument)}.\n`);
    else stdout.write(`${printableJson(record)}\n`);
    return record !== undefined;
  },
};

export const removeCommand: CatalogCommand = {
  usage: 'catalog remove ID|@handle',
  summary: 'Removes one channel and its pictures.',
  help: `Pictures that another channel uses are kept. Cached data of the channel is removed, too, as with "cache
purge"; with REDIS_URL in all instances. Each instance has its own catalog: run this command for each.
Exit code: 0 everything was removed, 1 the catalog has no such channel or something could not be removed,
2 invalid arguments.`,
  argumentName: 'ID|@handle',
  async run({ argument }, { dataDir, stdout, stderr, forget }) {
    const refs = requireRefs(argument);
    const record = await findInCatalog(dataDir, refs);
    if (record === undefined) {
      stderr.write(`The catalog has no channel ${printable(argument)}.\n`);
      return false;
    }
    const writer = openCatalogWriter(catalogPaths(dataDir));
    try {
      writer.remove(record.channelId);
      writer.removeLeftovers();
    } finally {
      writer.close();
    }
    stdout.write(`Removed ${record.channelId} (${printable(record.title)}).\n`);
    try {
      stdout.write(`${await forget(dataDir, record.channelId)}\n`);
      return true;
    } catch (error) {
      if (!(error instanceof CacheCommandError)) throw error;
      stderr.write(`${error.message}\nTry again with: pennant cache purge ${record.channelId}\n`);
      return false;
    }
  },
};

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

/** @returns the record of the first reference that the catalog has */
export function findInCatalog(dataDir: string, refs: readonly ChannelRef[]): Promise<CatalogRecord | undefined> {
  return withReader(dataDir, (reader) => findFirst(reader, refs));
}

function findFirst(reader: CatalogReader, refs: readonly ChannelRef[]): CatalogRecord | undefined {
  for (const ref of refs) {
    const record = reader.findRecord(ref);
    if (record !== undefined) return record;
  }
  return undefined;
}
