import { join } from 'node:path';
import { inspectDatabase } from '../../src/store/sqlite-schema.ts';
import type { HttpSender } from '../helpers/http-request.ts';
import { findRedisServer } from '../helpers/redis.ts';
import { type Channel, countImages, GIVE_UP_MS, importAnew, purge, readChannels, remove } from './changing-channels.ts';
import { comesTrue, type FaultContext, type Subject, stopService } from './context.ts';
import { findFaultsOf, RECORD_URLS, startMixedLoad } from './mixed-load.ts';
import type { Outcome } from './report.ts';
import { findEmptySamples } from './response-faults.ts';
import { changeSeveralInstances, purgeAcrossInstances } from './shared-changes.ts';

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
    const failures = context.isLong ? 300 : 12;
    const shared = `changes at two instances on a Redis that fails, ${failures} times`;
    if (findRedisServer()) {
      await context.measure('changes', spreads, () => purgeAcrossInstances(context, context.isLong ? 50 : 4));
      await context.measure('changes', shared, () => changeSeveralInstances(context, failures));
    } else {
      for (const attack of [spreads, shared]) context.report.skip('changes', attack, 'redis-server is not installed');
    }
  },
};

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
    if (channel.word === undefined || draw < 0.4) {
      await importAnew(dataDir, channel);
      counts.imports += 1;
    } else if (draw < 0.7) {
      await remove(dataDir, channel);
      counts.removals += 1;
    } else {
      await purge(service, channel);
      counts.purges += 1;
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
