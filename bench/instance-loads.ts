import { join } from 'node:path';
import { numberedChannelId, startNumberedUpstream } from '../test/faults/numbered-upstream.ts';
import type { FakeUpstream } from '../test/helpers/fake-upstream.ts';
import { findNginx, startFront } from '../test/helpers/front.ts';
import { startRedisServer } from '../test/helpers/redis.ts';
import { fetchGood } from './answer.ts';
import type { Print } from './parts.ts';
import type { Row } from './report.ts';
import { startService } from './servers.ts';
import { createRandom, createZipf } from './simulation/zipf.ts';
import { inTemporaryDirectory } from './temporary-directory.ts';

const REQUESTS = 2_000;
const CHANNELS = 1_000;
const EXPONENT = 1;
const AT_ONCE = 8;
const KINDS = ['', '', '/tv.jpg', '/tablet.jpg', '/mobile.jpg', '/avatar.jpg', '/avatar.jpg?width=88'];
const MOST_RATIO = 1.1;

type Arrangement = 'one instance' | 'three instances, any of them' | 'three instances behind nginx';

/** Compares what one instance and three instances with the same Redis request from upstream, for the same requests. */
export async function measureInstanceLoads(part: string, print: Print): Promise<Row[]> {
  const one = await countLoads('one instance');
  const rows: Row[] = [];
  const others: Arrangement[] = ['three instances, any of them'];
  if (findNginx()) others.push('three instances behind nginx');
  for (const arrangement of others) {
    print(`sending ${REQUESTS} requests to ${arrangement}`);
    const loads = await countLoads(arrangement);
    rows.push({
      part,
      what: `calls to upstream for ${REQUESTS} requests: ${arrangement} / one instance`,
      measured: `${loads} / ${one} = ${(loads / one).toFixed(2)}`,
      target: `at most ${MOST_RATIO}`,
      isMet: loads / one <= MOST_RATIO,
    });
  }
  return rows;
}

function countLoads(arrangement: Arrangement): Promise<number> {
  return inTemporaryDirectory(async (directory) => {
    const redis = await startRedisServer();
    const upstream = await startNumberedUpstream();
    const count = arrangement === 'one instance' ? 1 : 3;
    const services = await Promise.all(
      Array.from({ length: count }, (_, at) =>
        startService(join(directory, String(at)), settingsFor(redis.url, upstream)),
      ),
    );
    const ports = services.map(({ url }) => Number(new URL(url).port));
    const front = arrangement === 'three instances behind nginx' ? await startFront(ports) : undefined;
    try {
      const random = createRandom(2);
      await sendAll(() => front?.base ?? (services[Math.floor(random() * count)] as { url: string }).url);
      return upstream.requests.length;
    } finally {
      await front?.stop();
      for (const service of services) await service.stop();
      await upstream.close();
      await redis.remove();
    }
  });
}

function settingsFor(redisUrl: string, { origin }: FakeUpstream): Record<string, string> {
  return {
    REDIS_URL: redisUrl,
    SOURCES: 'youtube',
    YOUTUBE_ORIGIN: origin,
    YOUTUBE_IMAGE_ORIGIN: origin,
    UPSTREAM_CALLS_PER_SECOND: '1000',
    RATE_LIMIT_OVERRIDES: '127.0.0.0/8=unlimited',
    LOG_LEVEL: 'error',
  };
}

/** The same requests in every arrangement. */
async function sendAll(chooseOrigin: () => string): Promise<void> {
  const random = createRandom(1);
  const rank = createZipf({ count: CHANNELS, exponent: EXPONENT }, random);
  let sent = 0;

  async function sendSome(): Promise<void> {
    while (sent < REQUESTS) {
      sent += 1;
      const channelId = numberedChannelId('r', rank());
      const kind = KINDS[Math.floor(random() * KINDS.length)] as string;
      await fetchGood(chooseOrigin() + (kind === '' ? `/api/channel/${channelId}` : `/${channelId}${kind}`));
    }
  }

  await Promise.all(Array.from({ length: AT_ONCE }, sendSome));
}
