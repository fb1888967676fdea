import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { changeCatalog } from '../../src/cli/catalog/change.ts';
import { channelDigestIn, channelDigestOf } from '../../src/image-store/file-names.ts';
import { parseRecord } from '../../src/sources/catalog/record.ts';
import { catalogPaths } from '../../src/sources/catalog/schema.ts';
import type { CatalogWriter } from '../../src/sources/catalog/writer.ts';
import type { HttpSender } from '../helpers/http-request.ts';
import type { ServiceProcess } from '../helpers/process.ts';
import { storedFilesIn } from './service-checks.ts';

const SAMPLES = join(import.meta.dirname, '../../samples');
/** The time limit for every wait. */
export const GIVE_UP_MS = 30_000;

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

export async function purge(
  { inside }: ServiceProcess,
  { channelId }: Channel,
  { mayBeLate = false } = {},
): Promise<void> {
  const response = await fetch(`${inside}/purge`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-pennant-console': 'faults' },
    body: JSON.stringify({ channel: channelId }),
  });
  // A 503 means that Redis was too slow for one of the commands. The rest is done a second later.
  const isAccepted = response.ok || (mayBeLate && response.status === 503);
  if (!isAccepted) throw new Error(`a purge got ${response.status}`);
  await response.arrayBuffer();
}

/** Stored images of a channel. */
export async function countImages(dataDir: string, channelId: string): Promise<number> {
  const files = await storedFilesIn(join(dataDir, 'images'));
  return files.filter((file) => channelDigestIn(file) === channelDigestOf(channelId)).length;
}

/** Finds images that were stored before the purge. */
export async function findOlder(client: HttpSender, { channelId }: Channel, purgedAtMs: number): Promise<string[]> {
  const { status, headers } = await client.send({ url: `/${channelId}/avatar.webp` });
  if (status !== 200) return [`a purged image returned ${status}`];
  const storedAtMs = Date.parse(String(headers['last-modified']));
  const isNewer = storedAtMs >= Math.floor(purgedAtMs / 1_000) * 1_000;
  return isNewer ? [] : [`a purged image is of ${headers['last-modified']}`];
}

/** Whether an image was stored before the current second. `Last-Modified` has a resolution of seconds. */
export async function isOfEarlierSecond(client: HttpSender, { channelId }: Channel): Promise<boolean> {
  const { headers } = await client.send({ url: `/${channelId}/avatar.webp` });
  return Date.parse(String(headers['last-modified'])) < Date.parse(String(headers.date));
}
