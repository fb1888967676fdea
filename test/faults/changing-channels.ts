import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { changeCatalog } from '../../src/cli/catalog/change.ts';
import { parseRecord } from '../../src/sources/catalog/record.ts';
import { catalogPaths } from '../../src/sources/catalog/schema.ts';
import type { CatalogWriter } from '../../src/sources/catalog/writer.ts';

const SAMPLES = join(import.meta.dirname, '../../samples');
export interface Channel {
  readonly channelId: string;
  readonly handle: string;
  readonly line: Readonly<Record<string, unknown>>;
  /** A word that only the current title has. `undefined` if the channel is not in the catalog. */
  word: string | undefined;
  /** Words of earlier titles, which must find nothing. */
  formerWord: string | undefined;
}

/** The sample channels that have images. */
export function readChannels(): Channel[] {
  const lines = readFileSync(join(SAMPLES, 'channels.ndjson'), 'utf8').trim().split('\n');
  return lines
    .map((text) => JSON.parse(text) as Record<string, unknown>)
    .filter(({ bannerFile, avatarFile }) => bannerFile !== null && avatarFile !== null)
    .map((line) => ({
      channelId: String(line.channelId),
      handle: String(line.customUrl).slice(1),
      line,
      word: undefined,
      formerWord: undefined,
    }));
}

let words = 0;

/** Imports like `catalog import`, in this process instead of the service's. */
export async function importAnew(dataDir: string, channel: Channel): Promise<void> {
  words += 1;
  channel.formerWord = channel.word;
  channel.word = `word${words}x`;
  const record = parseRecord(JSON.stringify({ ...channel.line, title: `Title ${channel.word}` }));
  const put = (writer: CatalogWriter) => writer.putBatch([record], join(SAMPLES, 'images'));
  const [outcome] = await changeCatalog(catalogPaths(dataDir), put);
  if (outcome instanceof Error) throw outcome;
}

/** Removes like `catalog remove`. */
export async function remove(dataDir: string, channel: Channel): Promise<void> {
  await changeCatalog(catalogPaths(dataDir), (writer) => writer.remove(channel.channelId));
  channel.formerWord = channel.word;
  channel.word = undefined;
}
