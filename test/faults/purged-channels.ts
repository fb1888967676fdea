/** Channels of a fake YouTube that change there and are then purged. */
import { setTimeout as sleep } from 'node:timers/promises';
import { storedRowsIn } from '../helpers/disk-images.ts';
import { decodeImage } from '../helpers/image.ts';
import { repeat } from '../helpers/load.ts';
import type { FaultService } from './context.ts';
import { type NumberedUpstream, numberedChannelId } from './numbered-upstream.ts';

/** The time limit for every wait. */
export const GIVE_UP_MS = 30_000;

export const CHANNELS = Array.from({ length: 6 }, (_, number) => numberedChannelId('r', number));

/** Sent by the console. @returns whether it has happened. A 503 says that it has not */
export async function purge({ inside }: FaultService, channelId: string): Promise<boolean> {
  const response = await fetch(`${inside}/purge`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-pennant-console': 'faults' },
    body: JSON.stringify({ channel: channelId }),
  });
  await response.arrayBuffer();
  if (!response.ok && response.status !== 503) throw new Error(`a purge got ${response.status}`);
  return response.ok;
}

/** What an instance says about the channel that YouTube no longer says. */
export async function findOld(
  { client }: FaultService,
  upstream: NumberedUpstream,
  channelId: string,
): Promise<string[]> {
  const record = await client.send({ url: `/api/channel/${channelId}` });
  const avatar = await client.send({ url: `/${channelId}/avatar.png` });
  if (record.status !== 200 || avatar.status !== 200)
    return [`${channelId} returned ${record.status}, ${avatar.status}`];
  const { title } = JSON.parse(record.bytes.toString('utf8')) as { title: string };
  const expectedTitle = upstream.titleOf(channelId);
  const expected = upstream.colourOf(channelId).join(' ');
  const shown = (await decodeImage(avatar.bytes)).colourAt(0.5, 0.5).join(' ');
  return [
    ...(title === expectedTitle ? [] : [`the record is "${title}" instead of "${expectedTitle}"`]),
    ...(shown === expected ? [] : [`the avatar is "${shown}" instead of "${expected}"`]),
  ];
}

/** Stored images of a channel. */
export function countImages(dataDir: string, channelId: string): number {
  return storedRowsIn(dataDir).filter(({ channel }) => channel === channelId).length;
}

const AFTER_LOSS_MS = 20;

/** Requests records, avatars and batches of the channels, over and over, at the instances. */
export function startTraffic(instances: readonly FaultService[]) {
  let used = [...instances];
  let responses = 0;
  const urls = CHANNELS.flatMap((channelId) => [`/api/channel/${channelId}`, `/${channelId}/avatar.png`]);
  const work = repeat(3, async () => {
    const instance = used[Math.floor(Math.random() * used.length)];
    const url = urls[Math.floor(Math.random() * urls.length)] as string;
    // An instance may just have been ended.
    const response = await instance?.client.send({ url }).catch(() => undefined);
    if (response !== undefined) responses += 1;
    else await sleep(AFTER_LOSS_MS);
  });
  return {
    use(changed: readonly FaultService[]) {
      used = [...changed];
    },
    async stop(): Promise<number> {
      await work.stop();
      return responses;
    },
  };
}
