import { join } from 'node:path';
import { storedRowsIn } from '../helpers/disk-images.ts';
import { youtubeSettings } from '../helpers/replay-server.ts';
import { floodTheLimiter, floodTheListener } from './client-floods.ts';
import { comesTrue, type FaultContext, type Subject } from './context.ts';
import { floodTheEncoders } from './encoder-floods.ts';
import { makeMemoryGroup } from './memory-group.ts';
import { findFaultsOf } from './mixed-load.ts';
import { numberedChannelId, startNumberedUpstream } from './numbered-upstream.ts';
import type { Outcome } from './report.ts';

const ENCODER_FLOOD = '200 clients that request distinct AVIFs';
const CGROUP_NAME = `${ENCODER_FLOOD}, within a cgroup of 1 GiB`;
const GIB = 1024 ** 3;
/** A banner and an avatar. */
const ORIGINALS = 2;

/** More requests of every kind than the service can handle. */
export const floods: Subject = {
  name: 'floods',
  needsQuiet: true,
  async run(context) {
    await floodWithinCgroup(context);
    await context.measure('floods', 'a million clients against the limiter in process', floodTheLimiter);
    await context.measure('floods', 'spoofed clients behind a trusted proxy', () => floodTheListener(context));
    await context.measure('floods', 'distinct sizes of one image', () => floodWithSizes(context));
  },
};

async function floodWithinCgroup(context: FaultContext): Promise<void> {
  const group = makeMemoryGroup(GIB);
  if (group === undefined) {
    context.report.skip('floods', CGROUP_NAME, 'no cgroup can be made here');
    await context.measure('floods', ENCODER_FLOOD, () => floodTheEncoders(context));
    return;
  }
  try {
    await context.measure('floods', CGROUP_NAME, async () => {
      const outcome = await floodTheEncoders(context, group.enter);
      const most = group.mostBytes();
      const isLimited = most > 0 && most <= GIB;
      const unlimited = isLimited ? [] : [`${most} bytes were used in it: the limit did not hold`];
      return {
        ...outcome,
        measured: `${outcome.measured}; at most ${Math.round(most / 1024 ** 2)} MiB`,
        faults: [...outcome.faults, ...unlimited],
      };
    });
  } finally {
    await context.cleanUpServices();
    await comesTrue(group.remove, 5_000);
  }
}

/** One client's sizes must not evict images that all clients use. The channel is fetched: originals of the catalog are not stored. */
async function floodWithSizes(context: FaultContext): Promise<Outcome> {
  const upstream = await startNumberedUpstream();
  try {
    return await floodWithSizesOf(numberedChannelId('r', 1), upstream.origin, context);
  } finally {
    await context.cleanUpServices();
    await upstream.close();
  }
}

async function floodWithSizesOf(channelId: string, origin: string, context: FaultContext): Promise<Outcome> {
  const directory = await context.newDirectory();
  const env = { ...youtubeSettings(origin), IMAGE_CACHE_BYTES: '3MiB', MEMORY_CACHE_BYTES: '1MiB' };
  const { client } = await context.start({ directory, env });
  const plain = ['tv.webp', 'mobile.jpg', 'tablet.avif', 'avatar.webp'].map((name) => `/${channelId}/${name}`);
  const faults = await findFaultsOf(client, plain);
  const plainImages = () => plainKeys(join(directory, 'data'));
  const files = plain.length + ORIGINALS;
  await comesTrue(async () => plainImages().length >= files, 15_000);
  const before = plainImages();
  const sizes = context.isLong ? 3_000 : 120;
  for (let made = 0; made < sizes; made += 4) {
    const urls = [0, 1, 2, 3].map(
      (more) => `/${channelId}/tv.jpg?width=${100 + ((made + more) % 2_000)}&quality=${5 + ((made / 4) % 90)}`,
    );
    faults.push(...(await findFaultsOf(client, urls)));
  }
  const after = new Set(plainImages());
  faults.push(...before.filter((key) => !after.has(key)).map((key) => `${key} was evicted`));
  if (before.length < files) faults.push(`only ${before.length} of ${files} were stored`);
  for (const url of plain) {
    const { headers } = await client.send({ url });
    if (!String(headers['cache-status']).startsWith('pennant; hit')) faults.push(`${url} had to be made again`);
  }
  return { measured: `${sizes} sizes made; ${before.length} plain variants and originals kept, none evicted`, faults };
}

/** All images except those of own size. */
function plainKeys(dataDir: string): string[] {
  return storedRowsIn(dataDir)
    .filter(({ kind }) => kind !== 'custom')
    .map(({ key }) => key);
}
