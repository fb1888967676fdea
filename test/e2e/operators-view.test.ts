import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { startWithoutEncoder } from '../helpers/app.ts';
import { fetchedSamples } from '../helpers/fetched-samples.ts';
import { createTemporaryDirectory } from '../helpers/temporary-directory.ts';

const [SAMPLE, OTHER] = ['UCPennantSample00000001A', 'UCPennantSample00000003A'];

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
