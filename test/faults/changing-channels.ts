import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { catalogPaths } from '../../src/sources/catalog/schema.ts';
import { openCatalogWriter } from '../../src/sources/catalog/writer.ts';
import { importLines } from '../helpers/catalog.ts';

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
  const line = JSON.stringify({ ...channel.line, title: `Title ${channel.word}` });
  const { refusals } = await importLines(dataDir, [line], join(SAMPLES, 'images'));
  if (refusals.length > 0) throw new Error(refusals.join());
}

export function remove(dataDir: string, channel: Channel): void {
  const writer = openCatalogWriter(catalogPaths(dataDir));
  writer.remove(channel.channelId);
  writer.close();
  channel.formerWord = channel.word;
  channel.word = undefined;
}
