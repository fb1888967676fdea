import { describe, expect, test } from 'vitest';
import { channelIdOf } from '../../bench/catalog-content.ts';
import { freshShare } from '../../bench/simulation/growth.ts';
import { channelOf } from '../../bench/simulation/instance.ts';
import { type Scenario, simulate } from '../../bench/simulation/simulate.ts';
import { createTraffic, type SimulatedRequest } from '../../bench/simulation/traffic.ts';
import { createRandom, createZipf } from '../../bench/simulation/zipf.ts';
import { CACHE_POLICY } from '../../src/services/cache-policy.ts';
import type { ChannelSource } from '../../src/sources/source.ts';
import { startTestApp } from '../helpers/app.ts';
import { createManualClock } from '../helpers/clock.ts';
import { createFakeEncoder } from '../helpers/fake-encoder.ts';

/*
 * `npm run simulate` predicts how the service handles traffic that no test can produce. These tests compare it with the
 * real service under small traffic.
 */

const MIB = 2 ** 20;
const HOUR_SECONDS = CACHE_POLICY.records.freshMs / 1000;
const MAX_DIFFERENCE = 0.02;

const SMALL: Scenario = {
  channels: 3_000,
  exponent: 0.9,
  pictureShare: 0.5,
  seed: 7,
  instances: 1,
  routing: 'channel',
  isShared: false,
  memoryBytes: 8 * MIB,
  diskBytes: 2_048 * MIB,
  redisPictureBytes: 0,
  requestsPerSecond: 1,
  warmUpSeconds: HOUR_SECONDS,
  measuredSeconds: HOUR_SECONDS,
};

/** Runs the same scenario through the real service, request by request, and reads Cache-Status. */
async function measureHitRate(scenario: Scenario): Promise<number> {
  const clock = createManualClock();
  let originals = 0;
  const service = await startTestApp({
    clock,
    env: { MEMORY_CACHE_BYTES: String(scenario.memoryBytes), IMAGE_CACHE_BYTES: String(scenario.diskBytes) },
    sources: [everyChannel],
    encoder: createFakeEncoder({ info: { isWebReady: true }, encode: async () => Buffer.alloc(1_000) }),
    downloader: {
      // Every picture is different, like those of real channels.
      async download() {
        originals += 1;
        return Buffer.from(`original ${originals}`);
      },
    },
  });
  // The seed differs from the simulation's: any traffic of this kind must give the same rate.
  const next = createTraffic({ ...scenario, seed: scenario.seed + 1_000 });
  const warmUp = scenario.warmUpSeconds * scenario.requestsPerSecond;
  const measured = scenario.measuredSeconds * scenario.requestsPerSecond;
  let hits = 0;
  for (let number = 0; number < warmUp + measured; number += 1) {
    clock.advance(1000 / scenario.requestsPerSecond);
    const answer = await service.get(urlOf(next()));
    expect(answer.status).toBe(200);
    if (number >= warmUp && answer.headers['cache-status']?.startsWith('pennant; hit')) hits += 1;
  }
  await service.close();
  return hits / measured;
}

function urlOf({ rank, picture }: SimulatedRequest): string {
  const id = channelIdOf(rank);
  return picture === undefined ? `/api/channel/${id}` : `/${id}/${picture.variant}?format=${picture.format}`;
}

const everyChannel: ChannelSource = {
  name: 'every channel',
  isLive: true,
  resolve: () => Promise.reject(new Error('no request names a channel by its handle')),
  getChannel: async (channelId) => ({ channel: channelOf(channelId), missing: [], isComplete: true }),
  search: async () => ({ hits: [] }),
  async close() {},
};

describe('the simulation', () => {
  test('has the hit rate of the real service, within two points', async () => {
    const { hitRate } = await simulate(SMALL);
    const measured = await measureHitRate(SMALL);
    console.log(`hit rate: ${(hitRate * 100).toFixed(1)} % simulated, ${(measured * 100).toFixed(1)} % measured`);
    expect(Math.abs(hitRate - measured)).toBeLessThan(MAX_DIFFERENCE);
    // If everything or nothing were a hit, the comparison would prove nothing.
    expect(measured).toBeGreaterThan(0.2);
    expect(measured).toBeLessThan(0.8);
  }, 120_000);

  test('has the hit rate that theory predicts for expiring entries when nothing is evicted', async () => {
    const scenario = { ...SMALL, pictureShare: 0, memoryBytes: 1_024 * MIB, warmUpSeconds: 2 * HOUR_SECONDS };
    const { hitRate, memoryHitRate } = await simulate({ ...scenario, requestsPerSecond: 5 });
    const expected = freshShare({ count: scenario.channels, exponent: scenario.exponent }, 5, HOUR_SECONDS);
    expect(Math.abs(hitRate - expected)).toBeLessThan(0.01);
    expect(memoryHitRate).toBe(hitRate);
  });

  test('has fewer hits in a smaller memory, and the same hits in all tiers together', async () => {
    const roomy = await simulate(SMALL);
    const tight = await simulate({ ...SMALL, memoryBytes: 1 * MIB });
    expect(tight.memoryHitRate).toBeLessThan(roomy.memoryHitRate - 0.05);
    expect(tight.hitRate).toBe(roomy.hitRate);
  });

  test('sends fewer upstream requests when a channel has one instance, or when instances share', async () => {
    const three = { ...SMALL, instances: 3 };
    const loads = async (changes: Partial<Scenario>) => (await simulate({ ...three, ...changes })).counts.recordLoads;
    const apart = await loads({ routing: 'any' });
    expect(await loads({ routing: 'channel' })).toBeLessThan(apart * 0.9);
    expect(await loads({ routing: 'any', isShared: true, redisPictureBytes: MIB })).toBeLessThan(apart * 0.9);
  });
});

describe('Zipf’s law', () => {
  test.each([0.7, 1, 1.3])('with exponent %s draws each rank as often as expected', (exponent) => {
    const count = 50;
    const draws = 200_000;
    const next = createZipf({ count, exponent }, createRandom(3));
    const seen = new Map<number, number>();
    for (let draw = 0; draw < draws; draw += 1) {
      const rank = next();
      seen.set(rank, (seen.get(rank) ?? 0) + 1);
    }
    const ranks = Array.from({ length: count }, (_, at) => at + 1);
    const total = ranks.reduce((sum, rank) => sum + rank ** -exponent, 0);
    for (const rank of ranks) {
      const expected = (draws * rank ** -exponent) / total;
      expect(Math.abs((seen.get(rank) ?? 0) - expected)).toBeLessThan(5 * Math.sqrt(expected));
    }
    expect([...seen.keys()].every((rank) => rank >= 1 && rank <= count)).toBe(true);
  });
});
