import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { readDatabase } from '../../src/lib/sqlite.ts';
import { findRedisServer, startRedisServer } from '../helpers/redis.ts';
import { youtubeSettings } from '../helpers/replay-server.ts';
import { comesTrue, type FaultContext, type FaultService, type Subject, stopService } from './context.ts';
import { type NumberedUpstream, startNumberedUpstream } from './numbered-upstream.ts';
import { CHANNELS, countImages, findOld, GIVE_UP_MS, purge, startTraffic } from './purged-channels.ts';
import type { Outcome } from './report.ts';
import { findEmptySamples } from './response-faults.ts';

/** A purge reaches every instance within this time. */
const MAX_SPREAD_MS = 2_000;
/** Redis hangs for at most this time after a change. */
const MAX_HANG_MS = 300;
/** Other channels are served as before, so the budget of calls does not matter here. */
const SETTINGS = { UPSTREAM_CALLS_PER_SECOND: '100000', RATE_LIMIT_OVERRIDES: '0.0.0.0/0=unlimited' };

/** Channels change at YouTube and are purged while clients request them: what was purged does not return. */
export const purges: Subject = {
  name: 'purges',
  async run(context) {
    const upstream = await startNumberedUpstream();
    const [alone, shared] = context.isLong ? [1_000, 300] : [10, TROUBLES.length];
    const env = { ...SETTINGS, ...youtubeSettings(upstream.origin) };
    try {
      await context.measure('purges', `purges under load, ${alone} times`, () =>
        purgeOneInstance(context, upstream, env, alone),
      );
      const times = context.isLong ? 20 : 1;
      await context.measure('purges', `a take-down under load, ${times} times`, () =>
        takeDownUnderLoad(context, upstream, env, times),
      );
      const attack = `purges at two instances on a Redis that fails, ${shared} times`;
      if (!findRedisServer()) context.report.skip('purges', attack, 'redis-server is not installed');
      else await context.measure('purges', attack, () => purgeTwoInstances(context, upstream, env, shared));
    } finally {
      await context.cleanUpServices();
      await upstream.close();
    }
  },
};

async function purgeOneInstance(
  context: FaultContext,
  upstream: NumberedUpstream,
  env: Record<string, string>,
  rounds: number,
): Promise<Outcome> {
  const directory = await context.newDirectory();
  const start = () => context.start({ directory, env });
  let service = await start();
  const traffic = startTraffic([service]);
  const counts = { purges: 0, kills: 0 };
  const faults: string[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const channelId = CHANNELS[round % CHANNELS.length] as string;
    await upstream.change(channelId);
    counts.purges += 1;
    if (!(await purge(service, channelId))) faults.push(`round ${round}: a purge has failed`);
    faults.push(...(await findOld(service, upstream, channelId)).map((fault) => `round ${round}: ${fault}`));
    if (round % 10 === 9) {
      counts.kills += 1;
      traffic.use([]);
      service.child.kill('SIGKILL');
      await service.ended;
      service = await start();
      traffic.use([service]);
      faults.push(...(await findOld(service, upstream, channelId)).map((fault) => `after a kill: ${fault}`));
    }
  }
  const responses = await traffic.stop();
  for (const channelId of CHANNELS) faults.push(...(await findOld(service, upstream, channelId)));
  faults.push(...(await stopService(service)));
  return {
    measured: `${counts.purges} purges, ${counts.kills} kills, ${responses} responses; nothing came back`,
    faults: [...faults, ...findEmptySamples({ responses, ...counts })],
  };
}

const TROUBLES = [
  'none',
  'Redis hangs',
  'Redis loses its data',
  'Redis is away',
  'an instance is killed',
  'an instance is stopped',
] as const;

async function purgeTwoInstances(
  context: FaultContext,
  upstream: NumberedUpstream,
  env: Record<string, string>,
  rounds: number,
): Promise<Outcome> {
  const redis = await startRedisServer();
  const directories = [await context.newDirectory(), await context.newDirectory()] as const;
  const start = (at: 0 | 1) => context.start({ directory: directories[at], env: { ...env, REDIS_URL: redis.url } });
  const instances: [FaultService, FaultService] = [await start(0), await start(1)];
  const counts = { purges: 0, refused: 0 };
  const faults: string[] = [];
  let slowestMs = 0;
  const traffic = startTraffic(instances);
  try {
    for (let round = 0; round < rounds; round += 1) {
      const channelId = CHANNELS[round % CHANNELS.length] as string;
      const trouble = TROUBLES[round % TROUBLES.length];
      const [purging, failing] = Math.random() < 0.5 ? ([0, 1] as const) : ([1, 0] as const);
      const isEnding = trouble === 'an instance is killed' || trouble === 'an instance is stopped';
      if (isEnding) {
        traffic.use([instances[purging]]);
        instances[failing].child.kill(trouble === 'an instance is killed' ? 'SIGKILL' : 'SIGTERM');
        await instances[failing].ended;
      }
      await upstream.change(channelId);
      if (trouble === 'Redis hangs') redis.freeze();
      if (trouble === 'Redis is away') await redis.stop();
      const first = purge(instances[purging], channelId);
      await sleep(Math.random() * MAX_HANG_MS);
      redis.thaw();
      let hasPurged = await first;
      if (trouble === 'Redis is away') await redis.start();
      if (trouble === 'Redis loses its data') await redis.command('FLUSHALL');
      // A purge that has failed said so, and is asked for again.
      if (!hasPurged) counts.refused += 1;
      hasPurged ||= await comesTrue(() => purge(instances[purging], channelId), GIVE_UP_MS);
      const purgedAtMs = performance.now();
      counts.purges += 1;
      const what = `round ${round}, ${trouble}`;
      if (!hasPurged) faults.push(`${what}: the purge did not succeed`);
      faults.push(...(await findOld(instances[purging], upstream, channelId)).map((fault) => `${what}: ${fault}`));
      if (isEnding) {
        instances[failing] = await start(failing);
        traffic.use(instances);
      }
      const isFollowed = async () => (await findOld(instances[failing], upstream, channelId)).length === 0;
      if (!(await comesTrue(isFollowed, GIVE_UP_MS))) faults.push(`${what}: the other instance has old data`);
      if (!isEnding) slowestMs = Math.max(slowestMs, performance.now() - purgedAtMs);
      for (const instance of instances) {
        faults.push(...(await findOld(instance, upstream, channelId)).map((fault) => `${what}: ${fault} again`));
      }
    }
    const responses = await traffic.stop();
    for (const instance of instances) faults.push(...(await stopService(instance)));
    const slowest = `${(slowestMs / 1_000).toFixed(1)} s`;
    return {
      measured: `${counts.purges} purges, ${counts.refused} refused at first, followed within ${slowest}, ${responses} responses; nothing came back`,
      faults: [...faults, ...findEmptySamples({ responses, ...counts })],
      exceeded: slowestMs > MAX_SPREAD_MS ? [`a purge was followed after ${slowest}`] : [],
    };
  } finally {
    await traffic.stop();
    await context.cleanUpServices();
    await redis.remove();
  }
}

/** Restarts with a channel blocked while clients request it: no response and no byte of it may remain. */
async function takeDownUnderLoad(
  context: FaultContext,
  upstream: NumberedUpstream,
  env: Record<string, string>,
  times: number,
): Promise<Outcome> {
  const directory = await context.newDirectory();
  const dataDir = join(directory, 'data');
  const faults: string[] = [];
  const [channelId] = CHANNELS as [string];
  let responses = 0;
  await upstream.change(channelId);
  for (let time = 0; time < times; time += 1) {
    const before = await context.start({ directory, env });
    const traffic = startTraffic([before]);
    faults.push(...(await findOld(before, upstream, channelId)));
    if (!(await comesTrue(async () => countImages(dataDir, channelId) > 0, GIVE_UP_MS))) {
      faults.push('no image was stored');
    }
    faults.push(...(await stopService(before)));
    responses += await traffic.stop();
    const service = await context.start({ directory, env: { ...env, BLOCKED_CHANNELS: channelId } });
    for (const url of [`/api/channel/${channelId}`, `/${channelId}/avatar.webp`]) {
      const { status } = await service.client.send({ url });
      if (status !== 451) faults.push(`${url} returned ${status}`);
    }
    if (!(await comesTrue(async () => countImages(dataDir, channelId) === 0, GIVE_UP_MS))) {
      faults.push('images are left');
    }
    faults.push(...(await stopService(service)));
    const keys = readDatabase(join(dataDir, 'cache.db'), (db) =>
      db.prepare('SELECT key FROM entries WHERE instr(key || value, ?) > 0').all(channelId),
    );
    faults.push(...keys.map(({ key }) => `${key} is left`));
  }
  return {
    measured: 'returned 451, nothing left on the disk',
    faults: [...faults, ...findEmptySamples({ responses })],
  };
}
