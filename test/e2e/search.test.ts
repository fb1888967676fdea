import { describe, expect, test } from 'vitest';
import { startForTest, startWithoutEncoder, useTestApp } from '../helpers/app.ts';
import { hit, numberedChannelId, numberedSource } from '../helpers/fake-source.ts';
import { fetchedSamples } from '../helpers/fetched-samples.ts';

const SAMPLE = 'UCPennantSample00000001A';

const service = useTestApp();

interface Results {
  readonly query: string;
  readonly results: Record<string, unknown>[];
}

async function search(query: string): Promise<Results> {
  const response = await service.get(`/api/search?${query}`);
  expect(response.status).toBe(200);
  return response.json<Results>();
}

describe('search', () => {
  test('returns the trimmed query and the hits with their fields', async () => {
    const { query, results } = await search('q=%20pennant%20');
    expect(query).toBe('pennant');
    const found = results.find(({ channelId }) => channelId === SAMPLE);
    expect(Object.keys(found ?? {})).toEqual([
      'channelId',
      'title',
      'description',
      'customUrl',
      'subscriberCount',
      'videoCount',
      'bannerUrl',
      'avatarUrl',
    ]);
    expect(found?.bannerUrl).toBe(`http://pennant.test/api/banner/${SAMPLE}`);
  });

  test.each([
    ['a channel page', `https://www.youtube.com/channel/${SAMPLE}`],
    ['a custom name', 'youtube.com/PennantSample/videos'],
    ['an address with a long query', `https://www.youtube.com/@pennantsample?${'x'.repeat(1_900)}`],
  ])('lists the channel of %s first', async (_what, text) => {
    const { results } = await search(`q=${encodeURIComponent(text)}`);
    expect(results[0]?.channelId).toBe(SAMPLE);
    expect(results.filter(({ channelId }) => channelId === SAMPLE)).toHaveLength(1);
  });

  test('is cached for ten minutes per query, ignoring letter case and spaces', async () => {
    const service = await startWithoutEncoder(fetchedSamples());
    const first = await service.get('/api/search?q=Pennant%20Sample');
    expect(first.headers['cache-control']).toBe('public, max-age=600');
    service.clock.advance(60_000);
    const second = await service.get('/api/search?q=%20pennant%20%20SAMPLE');
    expect(second.headers['cache-status']).toBe('pennant; hit; ttl=540');
    expect(second.headers['cache-control']).toBe('public, max-age=540');
    expect(second.json<Results>().query).toBe('pennant  SAMPLE');
  });

  test('accepts a hundred characters of any kind', async () => {
    expect((await service.get(`/api/search?q=${encodeURIComponent('👩‍👩‍👧'.repeat(20))}`)).status).toBe(200);
    expect((await service.get(`/api/search?q=${'x'.repeat(100)}`)).status).toBe(200);
    expect((await service.get(`/api/search?q=${'x'.repeat(101)}`)).status).toBe(400);
    expect((await service.get(`/api/search?q=${encodeURIComponent('👩‍👩‍👧'.repeat(21))}`)).status).toBe(400);
  });

  test.each([
    ['', 'missing'],
    ['q=', 'empty'],
    ['q=%20', 'empty'],
    ['q=a&q=b', 'more than once'],
    ['q=a&limit=0', '1 to 20'],
    ['q=a&limit=21', '1 to 20'],
    ['q=a&limit=x', '1 to 20'],
  ])('refuses "%s" with the reason', async (query, hint) => {
    const response = await service.get(`/api/search?${query}`);
    expect([response.status, response.json().code]).toEqual([400, 'invalid_parameter']);
    expect(response.json().detail).toContain(hint);
  });
});

test('has twenty results unless the request has a limit, and asks its source once for all of them', async () => {
  let asked = 0;
  const many = await startForTest({
    sources: [
      {
        ...numberedSource(),
        async search() {
          asked += 1;
          return Array.from({ length: 30 }, (_, number) => hit(numberedChannelId(number)));
        },
      },
    ],
  });
  const count = async (query: string) =>
    (await many.get(`/api/search?q=a${query}`)).json<{ results: [] }>().results.length;
  expect([await count(''), await count('&limit=1'), await count('&limit=20')]).toEqual([20, 1, 20]);
  expect(asked).toBe(1);
});
