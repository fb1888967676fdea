import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { ChannelSource } from '../../src/sources/source.ts';
import { startWithoutEncoder } from '../helpers/app.ts';
import { numberedChannelId, numberedSource, testChannel } from '../helpers/fake-source.ts';
import { respondWithBytes, respondWithStatus, startFakeUpstream } from '../helpers/fake-upstream.ts';
import { fetchedSamples } from '../helpers/fetched-samples.ts';
import { createTemporaryDirectory } from '../helpers/temporary-directory.ts';

const [SAMPLE, OTHER] = ['UCPennantSample00000001A', 'UCPennantSample00000003A'];
const GIF = Buffer.from('R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7', 'base64');

describe('readiness', () => {
  test('has a condition, also in the metrics, as long as nothing can be stored, and everything is served', async () => {
    const dataDir = await createTemporaryDirectory();
    const obstacle = join(dataDir, 'cache.db');
    await mkdir(obstacle);
    const service = await startWithoutEncoder({ dataDir, ...fetchedSamples() });
    const get = async (id: string) => [
      (await service.get(`/channel/${id}`)).status,
      (await service.get(`/${id}/tv.webp`)).status,
    ];
    expect(await get(SAMPLE)).toEqual([200, 200]);
    expect((await service.readiness()).conditions).toEqual([
      { name: 'cache', detail: expect.stringMatching(/^cannot be used \(.*cache\.db: .+\)$/) },
    ]);
    expect(await service.metric('pennant_part_degraded{part="cache"}')).toBe(1);

    await rm(obstacle, { recursive: true });
    expect(await get(OTHER)).toEqual([200, 200]);
    expect((await service.readiness()).conditions).toEqual([]);
    expect(await service.metric('pennant_part_degraded{part="cache"}')).toBeUndefined();
  });

  test('is 503 while the service stops', async () => {
    const service = await startWithoutEncoder();
    const stopped = service.app.close();
    const response = await service.console('/readyz');
    await stopped;
    expect([response.status, response.json().ready]).toEqual([503, false]);
  });
});

test('RATE_LIMIT_IPV6_PREFIX is the length of the prefix that counts as one client', async () => {
  const env = {
    RATE_LIMIT_OVERRIDES: '',
    RATE_LIMIT_IPV6_PREFIX: '48',
    TRUST_PROXY: '127.0.0.0/8',
    BASE_URL: 'http://pennant.test',
  };
  const service = await startWithoutEncoder({ env });
  const left = async (client: string) =>
    (await service.get('/', { 'x-forwarded-for': client })).headers['x-ratelimit-remaining'];
  expect(await left('2001:db8:1:1::1')).toBe('9');
  expect(await left('2001:db8:1:2::1')).toBe('8');
  expect(await left('2001:db8:2:1::1')).toBe('9');
});

test('downloads from image hosts are counted by outcome, in metrics and console', async () => {
  const upstream = await startFakeUpstream((request, response) =>
    (request.url === '/0' ? respondWithBytes(GIF) : respondWithStatus(503))(request, response),
  );
  onTestFinished(upstream.close);
  const source: ChannelSource = {
    ...numberedSource(),
    async getChannel(channelId) {
      const urls = [`https://yt3.ggpht.com/${channelId === numberedChannelId(0) ? 0 : 1}`];
      const avatar = { kind: 'remote' as const, key: channelId, urls };
      return { channel: testChannel(channelId, { avatar }), isComplete: true, missing: [] };
    },
  };
  const service = await startWithoutEncoder({ sources: [source], env: { YOUTUBE_ORIGIN: upstream.origin } });
  for (let number = 0; number < 2; number += 1) await service.get(`/${numberedChannelId(number)}/avatar`);
  expect(await service.metric('pennant_image_host_calls_total{outcome="found"}')).toBe(1);
  expect(await service.metric('pennant_image_host_calls_total{outcome="upstream_unavailable"}')).toBe(1);
  const { totals } = await service.state();
  expect(totals.sources['image hosts']).toEqual({ found: 1, upstream_unavailable: 1 });
});
