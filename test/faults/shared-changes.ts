import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import sharp from 'sharp';
import { importLines, writeImages } from '../helpers/catalog.ts';
import { decodeImage } from '../helpers/image.ts';
import { startRedisServer } from '../helpers/redis.ts';
import {
  type Channel,
  countImages,
  findOlder,
  GIVE_UP_MS,
  isOfEarlierSecond,
  purge,
  readChannels,
  remove,
} from './changing-channels.ts';
import { comesTrue, type FaultContext, type FaultService, stopService } from './context.ts';
import type { Outcome } from './report.ts';
import { findEmptySamples } from './response-faults.ts';

/** A change reaches every instance within this time. */
const MAX_SPREAD_MS = 2_000;
/** Redis hangs for at most this time after a change. */
const MAX_HANG_MS = 300;

export async function purgeAcrossInstances(context: FaultContext, times: number): Promise<Outcome> {
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

const CHANGES = ['purges', 'removals', 'imports'] as const;
type Change = (typeof CHANGES)[number];
/** What happens during a change. Stored data may be lost by it, but nothing old may return. */
const TROUBLES = [
  'none',
  'none',
  'Redis hangs',
  'Redis loses its data',
  'an instance is killed',
  'an instance is stopped',
];

/**
 * Imports, removals and purges while two instances are requested, and while Redis or one of them fails. The avatar of each
 * version of a channel has a colour of its own.
 */
export async function changeSeveralInstances(context: FaultContext, rounds: number): Promise<Outcome> {
  const redis = await startRedisServer();
  const directories = [await context.newDirectory(), await context.newDirectory()] as const;
  const dataDirs = directories.map((directory) => join(directory, 'data'));
  const start = (at: 0 | 1) => context.start({ directory: directories[at], env: { REDIS_URL: redis.url } });
  const instances: [FaultService, FaultService] = [await start(0), await start(1)];
  const channels = readChannels().slice(0, 4);
  const counts = { imports: 0, removals: 0, purges: 0 };
  const faults: string[] = [];
  // The first request creates the sample catalog.
  await findAllOld(instances, channels);
  for (const channel of channels) await importColour(context, dataDirs, channel);
  const traffic = startTraffic(instances, channels);
  try {
    for (let round = 0; round < rounds; round += 1) {
      const channel = channels[round % channels.length] as Channel;
      const trouble = TROUBLES[Math.floor(Math.random() * TROUBLES.length)] as string;
      const [changing, failing] = round % 2 === 0 ? ([0, 1] as const) : ([1, 0] as const);
      const isEnding = trouble.startsWith('an instance');
      if (isEnding) {
        traffic.use([instances[changing]]);
        instances[failing].child.kill(trouble === 'an instance is killed' ? 'SIGKILL' : 'SIGTERM');
        await instances[failing].ended;
      }
      if (trouble === 'Redis hangs') redis.freeze();
      const wanted = CHANGES[round % CHANGES.length] as Change;
      const change = await changeOnce(wanted, context, dataDirs, instances[changing], channel);
      counts[change] += 1;
      await sleep(Math.random() * MAX_HANG_MS);
      redis.thaw();
      if (trouble === 'Redis loses its data' || trouble === 'an instance is stopped') await redis.command('FLUSHALL');
      const what = `round ${round}, ${change}, ${trouble}`;
      if (isEnding) {
        instances[failing] = await start(failing);
        const isGone = async () => (await countImages(dataDirs[failing] as string, channel.channelId)) === 0;
        if (change === 'purges' && !(await comesTrue(isGone, GIVE_UP_MS))) faults.push(`${what}: images are left`);
        traffic.use(instances);
      }
      for (const instance of instances) {
        const isCurrent = async () => (await findOld(instance, channel)).length === 0;
        if (!(await comesTrue(isCurrent, GIVE_UP_MS))) faults.push(`${what}: an instance has old data`);
      }
      faults.push(...(await findAllOld(instances, [channel])).map((fault) => `${what}: ${fault} again`));
    }
    faults.push(...(await findAllOld(instances, channels)));
    const responses = await traffic.stop();
    for (const instance of instances) faults.push(...(await stopService(instance)));
    const { imports, removals, purges } = counts;
    return {
      measured: `${imports} imports, ${removals} removals, ${purges} purges among ${responses} responses; nothing came back`,
      faults: [...faults, ...findEmptySamples({ responses, ...counts })],
    };
  } finally {
    await traffic.stop();
    await context.cleanUpServices();
    await redis.remove();
  }
}

let colours = 0;
const currentColours = new Map<Channel, readonly [red: number, green: number, blue: number]>();

/** Imports the channel into all catalogs, with an avatar of a new colour and a title that says it. */
async function importColour(context: FaultContext, dataDirs: readonly string[], channel: Channel): Promise<void> {
  colours += 1;
  const colour = [(colours * 37) % 256, (colours * 91) % 256, (colours * 151) % 256] as const;
  const [r, g, b] = colour;
  const png = await sharp({ create: { width: 64, height: 64, channels: 3, background: { r, g, b } } })
    .png()
    .toBuffer();
  const folder = await writeImages(await context.newDirectory(), { 'avatar.png': png });
  const line = { channelId: channel.channelId, title: colour.join(' '), avatarFile: 'avatar.png' };
  for (const dataDir of dataDirs) {
    const { refusals } = await importLines(dataDir, [JSON.stringify(line)], folder);
    if (refusals.length > 0) throw new Error(refusals.join());
  }
  currentColours.set(channel, colour);
}

/** A channel that is not in the catalogs is imported in any case. */
async function changeOnce(
  wanted: Change,
  context: FaultContext,
  dataDirs: readonly string[],
  instance: FaultService,
  channel: Channel,
): Promise<Change> {
  if (!currentColours.has(channel) || wanted === 'imports') {
    await importColour(context, dataDirs, channel);
    return 'imports';
  }
  if (wanted === 'removals') {
    for (const dataDir of dataDirs) await remove(dataDir, channel);
    currentColours.delete(channel);
    return 'removals';
  }
  await purge(instance, channel, { mayBeLate: true });
  return 'purges';
}

/** What an instance says about the channel that the catalogs do not say. */
async function findOld({ client }: FaultService, channel: Channel): Promise<string[]> {
  const { channelId } = channel;
  const colour = currentColours.get(channel);
  const record = await client.send({ url: `/api/channel/${channelId}` });
  const avatar = await client.send({ url: `/${channelId}/avatar.png` });
  const title = record.status === 200 ? (JSON.parse(record.bytes.toString('utf8')) as { title: string }).title : '';
  const shown = avatar.status === 200 ? (await decodeImage(avatar.bytes)).colourAt(0.5, 0.5).join(' ') : '';
  const expected = colour === undefined ? '' : colour.join(' ');
  return [
    ...(title === expected ? [] : [`the record is "${title}" instead of "${expected}"`]),
    ...(shown === expected ? [] : [`the avatar is "${shown}" instead of "${expected}"`]),
  ];
}

async function findAllOld(instances: readonly FaultService[], channels: readonly Channel[]): Promise<string[]> {
  const faults: string[] = [];
  for (const instance of instances) for (const channel of channels) faults.push(...(await findOld(instance, channel)));
  return faults;
}

/** Requests records and avatars of the channels, over and over, at the instances. */
function startTraffic(instances: readonly FaultService[], channels: readonly Channel[]) {
  let used = [...instances];
  let isStopped = false;
  let responses = 0;
  async function request(): Promise<void> {
    while (!isStopped) {
      const { client } = used[Math.floor(Math.random() * used.length)] as FaultService;
      const { channelId } = channels[Math.floor(Math.random() * channels.length)] as Channel;
      const url = Math.random() < 0.5 ? `/api/channel/${channelId}` : `/${channelId}/avatar.png`;
      // An instance may just have been ended.
      const response = await client.send({ url }).catch(() => undefined);
      if (response !== undefined) responses += 1;
      else await sleep(10);
    }
  }
  const done = Promise.all([request(), request(), request()]);
  return {
    use(changed: readonly FaultService[]) {
      used = [...changed];
    },
    async stop(): Promise<number> {
      isStopped = true;
      await done;
      return responses;
    },
  };
}
