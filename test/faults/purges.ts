import { join } from 'node:path';
import { readDatabase } from '../../src/lib/sqlite.ts';
import { decodeImage } from '../helpers/image.ts';
import { storedRowsIn } from '../helpers/images.ts';
import { repeat } from '../helpers/load.ts';
import { youtubeSettings } from '../helpers/replay-server.ts';
import { comesTrue, type FaultContext, type FaultService, type Subject, stopService } from './context.ts';
import { type NumberedUpstream, numberedChannelId, startNumberedUpstream } from './numbered-upstream.ts';
import type { Outcome } from './report.ts';
import { findEmptySamples } from './response-faults.ts';

/** Other channels are served as before, so the budget of calls does not matter here. */
const SETTINGS = { UPSTREAM_CALLS_PER_SECOND: '100000', RATE_LIMIT_OVERRIDES: '0.0.0.0/0=unlimited' };
/** The time limit for every wait. */
const GIVE_UP_MS = 30_000;

const [CHANNEL, ...OTHERS] = Array.from({ length: 6 }, (_, number) => numberedChannelId('r', number)) as [
  string,
  ...string[],
];
const urlsOf = (channelId: string) => [`/api/channel/${channelId}`, `/${channelId}/avatar.png`] as const;

/** A channel is purged, and taken down, while clients request others. */
export const purges: Subject = {
  name: 'purges',
  async run(context) {
    const upstream = await startNumberedUpstream();
    const env = { ...SETTINGS, ...youtubeSettings(upstream.origin) };
    const [purged, takenDown] = context.isLong ? [200, 20] : [10, 1];
    try {
      await context.measure('purges', `purges under load, ${purged} times`, () =>
        purgeUnderLoad(context, upstream, env, purged),
      );
      await context.measure('purges', `a take-down under load, ${takenDown} times`, () =>
        takeDownUnderLoad(context, env, takenDown),
      );
    } finally {
      await context.cleanUpServices();
      await upstream.close();
    }
  },
};

/** Requests records and avatars of the other channels, over and over. */
function startTraffic({ client }: FaultService) {
  const faults: string[] = [];
  let responses = 0;
  const urls = OTHERS.flatMap(urlsOf);
  const work = repeat(3, async () => {
    const url = urls[Math.floor(Math.random() * urls.length)] as string;
    const { status } = await client.send({ url });
    responses += 1;
    if (status !== 200) faults.push(`${url} returned ${status}`);
  });
  return {
    faults,
    async stop(): Promise<number> {
      await work.stop();
      return responses;
    },
  };
}

async function purgeUnderLoad(
  context: FaultContext,
  upstream: NumberedUpstream,
  env: Record<string, string>,
  times: number,
): Promise<Outcome> {
  const service = await context.start({ directory: await context.newDirectory(), env });
  const traffic = startTraffic(service);
  const faults: string[] = [];
  for (let time = 0; time < times; time += 1) {
    await upstream.change(CHANNEL);
    const { status } = await fetch(`${service.inside}/purge`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-pennant-console': 'faults' },
      body: JSON.stringify({ channel: CHANNEL }),
    });
    if (time > 0 && status !== 200) faults.push(`purge ${time} returned ${status}`);
    faults.push(...(await findOld(service, upstream)));
  }
  const responses = await traffic.stop();
  faults.push(...traffic.faults, ...(await stopService(service)));
  return {
    measured: `${times} purges, ${responses} responses about other channels; each purge was followed by new data`,
    faults: [...faults, ...findEmptySamples({ responses })],
  };
}

/** What the service says about the channel that YouTube no longer says. */
async function findOld({ client }: FaultService, upstream: NumberedUpstream): Promise<string[]> {
  const [recordUrl, avatarUrl] = urlsOf(CHANNEL);
  const record = await client.send({ url: recordUrl });
  const avatar = await client.send({ url: avatarUrl });
  if (record.status !== 200 || avatar.status !== 200) return [`got ${record.status}, ${avatar.status}`];
  const { title } = JSON.parse(record.bytes.toString('utf8')) as { title: string };
  const colour = (await decodeImage(avatar.bytes)).colourAt(0.5, 0.5).join(' ');
  const isNew = title === upstream.titleOf(CHANNEL) && colour === upstream.colourOf(CHANNEL).join(' ');
  return isNew ? [] : [`got the former data: "${title}", ${colour}`];
}

/** Restarts with a channel blocked while clients request others: no response and no byte of it may remain. */
async function takeDownUnderLoad(context: FaultContext, env: Record<string, string>, times: number): Promise<Outcome> {
  const directory = await context.newDirectory();
  const dataDir = join(directory, 'data');
  const countImages = () => storedRowsIn(dataDir).filter(({ channel }) => channel === CHANNEL).length;
  const faults: string[] = [];
  let responses = 0;
  for (let time = 0; time < times; time += 1) {
    const before = await context.start({ directory, env });
    for (const url of urlsOf(CHANNEL)) await before.client.send({ url });
    if (!(await comesTrue(async () => countImages() > 0, GIVE_UP_MS))) faults.push('no image was stored');
    faults.push(...(await stopService(before)));
    const service = await context.start({ directory, env: { ...env, BLOCKED_CHANNELS: CHANNEL } });
    const traffic = startTraffic(service);
    for (const url of urlsOf(CHANNEL)) {
      const { status } = await service.client.send({ url });
      if (status !== 451) faults.push(`${url} returned ${status}`);
    }
    if (!(await comesTrue(async () => countImages() === 0, GIVE_UP_MS))) faults.push('images are left');
    responses += await traffic.stop();
    faults.push(...traffic.faults, ...(await stopService(service)));
    const keys = readDatabase(join(dataDir, 'cache.db'), (db) =>
      db.prepare('SELECT key FROM entries WHERE instr(key || value, ?) > 0').all(CHANNEL),
    );
    faults.push(...keys.map(({ key }) => `${key} is left`));
  }
  return {
    measured: 'returned 451, nothing left on the disk',
    faults: [...faults, ...findEmptySamples({ responses })],
  };
}
