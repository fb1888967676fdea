import { describe, expect, test } from 'vitest';
import { BADGE_METRICS } from '../../src/domain/badges.ts';
import type { ChannelSource } from '../../src/sources/source.ts';
import { startForTest, useTestApp } from '../helpers/app.ts';
import { createStub, ID, numberedChannelId, numberedSource, record } from '../helpers/fake-source.ts';

const SAMPLE = 'UCPennantSample00000001A';

describe('a badge', () => {
  const service = useTestApp();

  test('has exactly the fields of a shields.io endpoint badge', async () => {
    const response = await service.get(`/api/badge/${SAMPLE}`);
    expect([response.status, response.headers['content-type']]).toEqual([200, 'application/json; charset=utf-8']);
    expect(response.json()).toEqual({
      schemaVersion: 1,
      label: 'subscribers',
      message: '1.28M',
      color: 'red',
      isError: false,
      cacheSeconds: 3600,
    });
  });

  test.each([
    [`${SAMPLE}?metric=views`, 'views', '96.3M'],
    [`${SAMPLE}?metric=videos`, 'videos', '412'],
    ['@pennantsample', 'subscribers', '1.28M'],
    ['PennantSample', 'subscribers', '1.28M'],
    ['lanternhours', 'subscribers', 'hidden'],
    [`${SAMPLE}?cachebuster=1`, 'subscribers', '1.28M'],
  ])('of %s shows "%s: %s"', async (request, label, message) => {
    expect((await service.get(`/api/badge/${request}`)).json()).toMatchObject({ label, message });
  });

  test.each(BADGE_METRICS)('of every metric has a value: %s', async (metric) => {
    const { status, json } = await service.get(`/api/badge/${SAMPLE}?metric=${metric}`);
    expect([status, json().label]).toEqual([200, metric]);
    expect(json().message).not.toBe('hidden');
  });

  test.each([
    [`${SAMPLE}?metric=likes`, '"likes" is not a valid metric. Valid: subscribers, views, videos'],
    [`${SAMPLE}?metric=`, '"metric" is empty'],
    [`${SAMPLE}.png`, 'an SVG image (/api/badge/{id}.svg) or JSON'],
    ['%20', 'neither a channel ID'],
  ])('of %s is a 400 that names the mistake', async (request, fault) => {
    const response = await service.get(`/api/badge/${request}`);
    expect([response.status, response.json().code]).toEqual([400, 'invalid_parameter']);
    expect(response.json().detail).toContain(fault);
  });

  test('of a channel that does not exist is a 404', async () => {
    const response = await service.get('/api/badge/@nobodyhasthisone');
    expect([response.status, response.json().code]).toEqual([404, 'channel_not_found']);
  });
});

test('a count has three digits, is never rounded up and has no trailing zeros', async () => {
  const messages = {
    '0': '0',
    '999': '999',
    '1000': '1k',
    '9999': '9.99k',
    '999999': '999k',
    '1000000': '1M',
    '1000000000': '1B',
    '1000000000000': '1T',
    // More than a JavaScript number can hold exactly.
    '9007199254740993': '9000T',
  };
  const counts = Object.keys(messages);
  const numbered = numberedSource();
  const source: ChannelSource = {
    ...numbered,
    async getChannel(channelId, options) {
      const loaded = await numbered.getChannel(channelId, options);
      return { ...loaded, channel: { ...loaded.channel, subscriberCount: counts[Number(channelId.slice(2))] ?? null } };
    },
  };
  const service = await startForTest({ sources: [source] });
  for (const [at, count] of counts.entries()) {
    const { message } = (await service.get(`/api/badge/${numberedChannelId(at)}`)).json();
    expect([count, message]).toEqual([count, messages[count as keyof typeof messages]]);
  }
  // A count that is unknown.
  expect((await service.get(`/api/badge/${numberedChannelId(99)}`)).json().message).toBe('hidden');
});

test('a badge may be cached as long as the record, and by shields.io for at least five minutes', async () => {
  const source = createStub({ channel: record({ subscriberCount: '12' }) });
  const service = await startForTest({ sources: [source] });
  const agesOf = async () => {
    const response = await service.get(`/api/badge/${ID}`);
    return [response.headers['cache-control'], response.json().cacheSeconds];
  };
  expect(await agesOf()).toEqual(['public, max-age=3600', 3600]);
  service.clock.advance(3_000_000);
  expect(await agesOf()).toEqual(['public, max-age=600', 600]);
  service.clock.advance(500_000);
  expect(await agesOf()).toEqual(['public, max-age=100', 300]);
  const { etag = '' } = (await service.get(`/api/badge/${ID}`)).headers;
  expect((await service.get(`/api/badge/${ID}`, { 'if-none-match': etag })).status).toBe(304);
  expect(source.calls).toBe(1);
});
