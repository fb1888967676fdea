import sharp from 'sharp';
import { cpuSeconds } from '../../bench/processes.ts';
import { respondWithStatus } from '../helpers/fake-upstream.ts';
import { youtubeSettings } from '../helpers/replay-server.ts';
import { startBannerChannels } from './banner-channels.ts';
import { ask, askInTurn, describeWaits, TRUSTED } from './bystanders.ts';
import { comesTrue, type FaultContext, type FaultService, metricsOf, metricValue, type Subject } from './context.ts';
import { type MemoryGroup, makeMemoryGroup } from './memory-group.ts';
import { type Outcome, percentile } from './report.ts';
import { findEmptySamples, isRefusal } from './response-faults.ts';

const NAME = 'one address with banners of 50 megapixels, within a cgroup of 1 GiB';
const GIB = 1024 ** 3;
const SAMPLE = 'UCPennantSample00000001A';
const BEFORE = 5;
const BYSTANDERS = 30;
const EVERY_MS = 300;
const WITHIN_MS = 3_000;
/** All of them, except one in ten on a busy machine. */
const IN_TIME = 27;
const KILLED = 'pennant_encoder_processes_ended_total{reason="crash"}';

/** What one address may ask for: images of three channels, whose banners are as large as they may be. */
const IMAGES = ['tv.png', 'tv.avif', 'default.webp'] as const;

/** One client asks for the largest images of the largest banners. Others get theirs, and no process runs out of memory. */
export const largeBanners: Subject = {
  name: 'large-banners',
  needsQuiet: true,
  async run(context) {
    const group = makeMemoryGroup(GIB);
    if (group === undefined) {
      context.report.skip('large-banners', NAME, 'no cgroup can be made here');
      return;
    }
    try {
      await context.measure('large-banners', NAME, () => askForLargeBanners(context, group));
    } finally {
      await context.cleanUpServices();
      await comesTrue(group.remove, 5_000);
    }
  },
};

async function askForLargeBanners(context: FaultContext, group: MemoryGroup): Promise<Outcome> {
  const banners = await drawBanners();
  const replay = await startBannerChannels(
    banners.map((banner, index) => ({
      channelId: channelIdOf(index),
      send: respondWithStatus(200, { 'content-type': 'image/jpeg' }, banner),
    })),
  );
  try {
    const env = { ...TRUSTED, ...youtubeSettings(replay.origin), SOURCES: 'catalog,youtube', RATE_LIMIT_OVERRIDES: '' };
    const service = await context.start({ env, prefix: group.enter });
    return await attack(service, group, banners.length);
  } finally {
    await context.cleanUpServices();
    await replay.close();
  }
}

async function attack(service: FaultService, group: MemoryGroup, channels: number): Promise<Outcome> {
  let width = 100;
  const bystander = () => {
    width += 1;
    return ask(service, `10.${width}.0.1`, `/${SAMPLE}/avatar.avif?width=${width}`);
  };
  const before = await askInTurn(BEFORE, EVERY_MS, bystander);
  const cpuBefore = await cpuSeconds(service.pid);
  const urls = Array.from({ length: channels }, (_, index) => IMAGES.map((image) => `/${channelIdOf(index)}/${image}`));
  const large = Promise.all(urls.flat().map((url) => ask(service, '192.0.2.1', url)));
  const during = await askInTurn(BYSTANDERS, EVERY_MS, bystander);
  const made = await large;
  // An image that is too large to be stored would be made again.
  const again = await ask(service, '198.51.100.1', `/${channelIdOf(0)}/tv.png`);
  const repeated = await ask(service, '198.51.100.2', `/${channelIdOf(0)}/tv.png`);
  const isStored = String(repeated.headers['cache-status']).startsWith('pennant; hit');
  const cpu = (await cpuSeconds(service.pid)) - cpuBefore;
  const crashes = metricValue(await metricsOf(service), KILLED, 0);
  const most = group.mostBytes();

  const waits = during.map(({ tookMs }) => tookMs);
  const ratio =
    percentile(waits, 0.5) /
    percentile(
      before.slice(1).map(({ tookMs }) => tookMs),
      0.5,
    );
  const inTime = during.filter(({ status, tookMs }) => status === 200 && tookMs <= WITHIN_MS).length;
  const good = made.filter(({ status }) => status === 200).length;
  const wrong = [...made, ...during].filter((each) => each.status !== 200 && !isRefusal(each));
  const counts = `${inTime} of ${BYSTANDERS} images of others within 3 s (${describeWaits(waits)}, ×${ratio.toFixed(1)})`;
  const memory = `${group.killed()} killed, at most ${Math.round(most / 2 ** 20)} MiB`;
  return {
    measured: `${counts}; ${good} of ${made.length} large ones; ${memory}; ${cpu.toFixed(1)} s of the server's CPU time`,
    faults: [
      ...wrong.map(({ status }) => `status ${status}`),
      ...(again.status === 200 && isStored ? [] : ['the largest image is made anew for each request']),
      ...(group.killed() > 0 ? [`the kernel killed ${group.killed()} processes`] : []),
      ...(crashes > 0 ? [`${crashes} encoders crashed`] : []),
      ...(most > 0 && most <= GIB ? [] : [`${most} bytes were used: the limit did not hold`]),
      ...findEmptySamples({ 'large images': good }),
    ],
    exceeded: inTime < IN_TIME ? [`fewer than ${IN_TIME} of ${BYSTANDERS} images of others in time`] : [],
  };
}

/** Photographs as far as a codec can tell: half of them are progressive, which must be decoded into memory. */
async function drawBanners(): Promise<Buffer[]> {
  const noise = { type: 'gaussian', mean: 128, sigma: 50 } as const;
  const small = await sharp({ create: { width: 1_083, height: 722, channels: 3, background: 'grey', noise } })
    .png()
    .toBuffer();
  return Promise.all(
    [false, true, true].map((progressive, index) => {
      const banner = sharp(small).resize(8_660, 5_773, { kernel: 'cubic', fit: 'fill' });
      return banner.jpeg({ quality: 70 + index, progressive }).toBuffer();
    }),
  );
}

function channelIdOf(index: number): string {
  return `UClargebanner${String(index).padStart(11, '0')}`;
}
