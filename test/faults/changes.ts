import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { channelDigestIn, channelDigestOf } from '../../src/image-store/file-names.ts';
import { catalogPaths } from '../../src/sources/catalog/schema.ts';
import { openCatalogWriter } from '../../src/sources/catalog/writer.ts';
import { inspectDatabase } from '../../src/store/sqlite-schema.ts';
import { importLines } from '../helpers/catalog.ts';
import type { HttpSender } from '../helpers/http-request.ts';
import type { ServiceProcess } from '../helpers/process.ts';
import { findRedisServer, startRedisServer } from '../helpers/redis.ts';
import { comesTrue, type FaultContext, type Subject, stopService } from './context.ts';
import { findFaultsOf, RECORD_URLS, startMixedLoad } from './mixed-load.ts';
import type { Outcome } from './report.ts';
import { findEmptySamples } from './response-faults.ts';
import { storedFilesIn } from './service-checks.ts';

const SAMPLES = join(import.meta.dirname, '../../samples');
/** A change reaches every instance within this time. */
const MAX_SPREAD_MS = 2_000;
/** The time limit for every wait. */
const GIVE_UP_MS = 30_000;

/** Imports, removals, purges and take-downs while clients request the same channels: no old data returns. */
export const changes: Subject = {
  name: 'changes',
  async run(context) {
    const rounds = context.isLong ? 1_000 : 40;
    await context.measure('changes', `imports, removals and purges under load, ${rounds} times`, () =>
      changeUnderLoad(context, rounds),
    );
    const times = context.isLong ? 20 : 1;
    await context.measure('changes', `a take-down under load, ${times} times`, () => takeDownUnderLoad(context, times));
    const spreads = `purges that another instance has to follow, ${context.isLong ? 50 : 4} times`;
    if (findRedisServer()) {
      await context.measure('changes', spreads, () => purgeAcrossInstances(context, context.isLong ? 50 : 4));
    } else context.report.skip('changes', spreads, 'redis-server is not installed');
  },
};

interface Channel {
  readonly channelId: string;
  readonly handle: string;
  readonly line: Readonly<Record<string, unknown>>;
  /** A word that only the current title has. `undefined` if the channel is not in the catalog. */
  word: string | undefined;
  /** Words of earlier titles, which must find nothing. */
  formerWord: string | undefined;
}

/** The sample channels that have images. */
function readChannels(): Channel[] {
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
async function importAnew(dataDir: string, channel: Channel): Promise<void> {
  words += 1;
  channel.formerWord = channel.word;
  channel.word = `word${words}x`;
  const line = JSON.stringify({ ...channel.line, title: `Title ${channel.word}` });
  const { refusals } = await importLines(dataDir, [line], join(SAMPLES, 'images'));
  if (refusals.length > 0) throw new Error(refusals.join());
}

function remove(dataDir: string, channel: Channel): void {
  const writer = openCatalogWriter(catalogPaths(dataDir));
  writer.remove(channel.channelId);
  writer.close();
  channel.formerWord = channel.word;
  channel.word = undefined;
}

async function purge({ inside }: ServiceProcess, { channelId }: Channel, { mayBeLate = false } = {}): Promise<void> {
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

async function changeUnderLoad(context: FaultContext, rounds: number): Promise<Outcome> {
  const directory = await context.newDirectory();
  const dataDir = join(directory, 'data');
  const service = await context.start({ directory });
  const { client } = service;
  const channels = readChannels();
  // The first request creates the sample catalog: the load also requests the channel that is never imported.
  const faults = await findFaultsOf(client, RECORD_URLS);
  for (const channel of channels) await importAnew(dataDir, channel);
  const removed = channels.map(({ channelId }) => channelId);
  const load = startMixedLoad(service.port, { clients: 3, removed });
  const counts = { imports: 0, removals: 0, purges: 0 };
  for (let round = 0; round < rounds; round += 1) {
    const channel = channels[round % channels.length] as Channel;
    const draw = Math.random();
    const purgedAtMs = Date.now();
    if (channel.word === undefined || draw < 0.4) {
      await importAnew(dataDir, channel);
      counts.imports += 1;
    } else if (draw < 0.7) {
      remove(dataDir, channel);
      counts.removals += 1;
    } else {
      await purge(service, channel);
      counts.purges += 1;
      faults.push(...(await findOlder(client, channel, purgedAtMs)));
    }
    const found = await findWrongResponses(client, channel);
    faults.push(...found.map((fault) => `round ${round}: ${fault}`));
  }
  await load.stop();
  for (const channel of channels) faults.push(...(await findWrongResponses(client, channel)));
  faults.push(...(await stopService(service)));
  for (const channel of channels) {
    if (channel.word === undefined) faults.push(...(await findLeftovers(dataDir, channel)));
  }
  const { imports, removals, purges } = counts;
  return {
    measured: `${imports} imports, ${removals} removals, ${purges} purges among ${load.responses} responses; nothing came back`,
    faults: [...faults, ...load.faults, ...findEmptySamples({ responses: load.responses, removals, purges })],
  };
}

/** Responses about a channel that differ from the catalog. */
async function findWrongResponses(client: HttpSender, channel: Channel): Promise<string[]> {
  const { channelId, handle, word, formerWord } = channel;
  const faults: string[] = [];
  for (const url of [`/api/channel/${channelId}`, `/api/channel/${encodeURIComponent(handle)}?type=handle`]) {
    const { status, bytes } = await client.send({ url });
    const title = status === 200 ? (JSON.parse(bytes.toString('utf8')) as { title: string }).title : undefined;
    if (title !== (word && `Title ${word}`)) faults.push(`${url} returned ${status} ${title}, the catalog has ${word}`);
  }
  if (word !== undefined && !(await isFound(client, channelId, word))) faults.push(`${word} is not found`);
  if (formerWord !== undefined && (await isFound(client, channelId, formerWord))) faults.push(`${formerWord} is found`);
  if (word === undefined) {
    const { status } = await client.send({ url: `/${channelId}/avatar` });
    if (status !== 404) faults.push(`an image of a channel that was removed returned ${status}`);
  }
  return faults;
}

async function isFound(client: HttpSender, channelId: string, word: string): Promise<boolean> {
  const { bytes } = await client.send({ url: `/api/search?q=${word}` });
  const { results = [] } = JSON.parse(bytes.toString('utf8')) as { results?: { channelId: string }[] };
  return results.some((result) => result.channelId === channelId);
}

/** Finds images that were stored before the purge. */
async function findOlder(client: HttpSender, { channelId }: Channel, purgedAtMs: number): Promise<string[]> {
  const { status, headers } = await client.send({ url: `/${channelId}/avatar.webp` });
  if (status !== 200) return [`a purged image returned ${status}`];
  const storedAtMs = Date.parse(String(headers['last-modified']));
  const isNewer = storedAtMs >= Math.floor(purgedAtMs / 1_000) * 1_000;
  return isNewer ? [] : [`a purged image is of ${headers['last-modified']}`];
}

/** Whether an image was stored before the current second. `Last-Modified` has a resolution of seconds. */
async function isOfEarlierSecond(client: HttpSender, { channelId }: Channel): Promise<boolean> {
  const { headers } = await client.send({ url: `/${channelId}/avatar.webp` });
  return Date.parse(String(headers['last-modified'])) < Date.parse(String(headers.date));
}

/** Remaining bytes of a removed channel. */
async function findLeftovers(dataDir: string, { channelId }: Channel): Promise<string[]> {
  const images = await countImages(dataDir, channelId);
  const entries = inspectDatabase(join(dataDir, 'cache.db'), (db) =>
    db
      .prepare("SELECT key FROM entries WHERE instr(key || value, ?) > 0 AND instr(value, 'absent') = 0")
      .all(channelId),
  ) as { key: string }[];
  return [
    ...(images > 0 ? [`${images} images of ${channelId} are left`] : []),
    ...entries.map(({ key }) => `${key} is left`),
  ];
}

async function countImages(dataDir: string, channelId: string): Promise<number> {
  const files = await storedFilesIn(join(dataDir, 'images'));
  return files.filter((file) => channelDigestIn(file) === channelDigestOf(channelId)).length;
}

/** Restarts with the channel blocked while clients request it: no response and no byte of it may remain. */
async function takeDownUnderLoad(context: FaultContext, times: number): Promise<Outcome> {
  const directory = await context.newDirectory();
  const faults: string[] = [];
  const [channel] = readChannels() as [Channel];
  const urls = [`/api/channel/${channel.channelId}`, `/${channel.channelId}/avatar.webp`, `/@${channel.handle}/tv`];
  for (let time = 0; time < times; time += 1) {
    const before = await context.start({ directory });
    const load = startMixedLoad(before.port, { clients: 3 });
    for (const url of urls) {
      const response = await fetch(`${before.base}${url}`);
      await response.arrayBuffer();
      if (!response.ok) faults.push(`${url} returned ${response.status} before the take-down`);
    }
    const isStored = async () => (await countImages(join(directory, 'data'), channel.channelId).catch(() => 0)) > 0;
    if (!(await comesTrue(isStored, GIVE_UP_MS))) faults.push('no image was stored');
    load.expectEnd();
    faults.push(...(await stopService(before)));
    await load.stop();
    faults.push(...load.faults, ...findEmptySamples({ responses: load.responses }));
    const service = await context.start({ directory, env: { BLOCKED_CHANNELS: channel.channelId } });
    for (const url of urls) {
      const { status } = await fetch(`${service.base}${url}`);
      if (status !== 451) faults.push(`${url} returned ${status}`);
    }
    // Empty directories may be removed while they are being read.
    const isGone = async () => (await countImages(join(directory, 'data'), channel.channelId).catch(() => 1)) === 0;
    if (!(await comesTrue(isGone, GIVE_UP_MS))) faults.push('images are left');
    faults.push(...(await stopService(service)));
    faults.push(...(await findLeftovers(join(directory, 'data'), channel)));
  }
  return { measured: 'returned 451, nothing left on the disk', faults };
}

async function purgeAcrossInstances(context: FaultContext, times: number): Promise<Outcome> {
  const redis = await startRedisServer();
  try {
    const env = { REDIS_URL: redis.url };
    const [first, second] = [await context.start({ env }), await context.start({ env })];
    const channels = readChannels();
    const faults: string[] = [];
    let slowestMs = 0;
    for (let time = 0; time < times; time += 1) {
      const channel = channels[time % channels.length] as Channel;
      await first.client.send({ url: `/${channel.channelId}/avatar.webp` });
      if (!(await comesTrue(() => isOfEarlierSecond(second.client, channel), GIVE_UP_MS))) {
        faults.push('a stored image did not grow older');
      }
      const purgedAtMs = Date.now();
      await purge(first, channel, { mayBeLate: true });
      const isFollowed = async () => (await findOlder(second.client, channel, purgedAtMs)).length === 0;
      if (!(await comesTrue(isFollowed, GIVE_UP_MS))) faults.push('the other instance went on with what it had');
      slowestMs = Math.max(slowestMs, Date.now() - purgedAtMs);
    }
    const slowest = `at most ${(slowestMs / 1_000).toFixed(1)} s later`;
    return {
      measured: `the other instance followed ${slowest}`,
      faults,
      exceeded: slowestMs > MAX_SPREAD_MS ? [`a change was followed ${slowest}`] : [],
    };
  } finally {
    await context.cleanUpServices();
    await redis.remove();
  }
}
