import sharp from 'sharp';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ChannelSource } from '../../src/sources/source.ts';
import { startTestApp, startWithoutEncoder, type TestApp } from '../helpers/app.ts';
import { createStub, ID, numberedChannelId, numberedSource, record } from '../helpers/fake-source.ts';
import { fetchedSamples } from '../helpers/fetched-samples.ts';

const SAMPLE = 'UCPennantSample00000001A';

describe('a badge', () => {
  let service: TestApp;
  beforeAll(async () => {
    service = await startTestApp();
  });
  afterAll(() => service.close());

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
    [`${SAMPLE}?metric=subscribers`, 'subscribers', '1.28M'],
    [`${SAMPLE}?metric=views`, 'views', '96.3M'],
    [`${SAMPLE}?metric=videos`, 'videos', '412'],
    ['@pennantsample', 'subscribers', '1.28M'],
    ['PennantSample', 'subscribers', '1.28M'],
    ['lanternhours', 'subscribers', 'hidden'],
    [`${SAMPLE}?cachebuster=1`, 'subscribers', '1.28M'],
  ])('of %s shows "%s: %s"', async (request, label, message) => {
    expect((await service.get(`/api/badge/${request}`)).json()).toMatchObject({ label, message });
  });

  test.each([
    [`${SAMPLE}?metric=likes`, '"likes" is not a valid metric. Valid: subscribers, views, videos'],
    [`${SAMPLE}?metric=Views`, '"Views" is not a valid metric'],
    [`${SAMPLE}?metric=`, '"metric" is empty'],
    [`${SAMPLE}?metric=views&metric=views`, 'more than once'],
    [`${SAMPLE}.png`, 'an SVG image (/api/badge/{id}.svg) or JSON'],
    [`${SAMPLE}.png.svg`, 'an SVG image (/api/badge/{id}.svg) or JSON'],
    [`${SAMPLE}.svg?style=round`, '"round" is not a valid style. Valid: flat, flat-square'],
    [`${SAMPLE}.svg?color=crimson`, '"crimson" is not a valid color. Valid: brightgreen'],
    [`${SAMPLE}.svg?color=%23f00`, 'is not a valid color'],
    [`${SAMPLE}.svg?color=12345`, 'is not a valid color'],
    [`${SAMPLE}.svg?color=url(x)`, 'is not a valid color'],
    [`${SAMPLE}.svg?label=`, '"label" is empty'],
    [`${SAMPLE}.svg?label=${'x'.repeat(61)}`, 'is not a valid label. Valid: a text of 1 to 60 characters'],
    [`${SAMPLE}.svg?label=a%00b`, 'is not a valid label'],
    [`${SAMPLE}.svg?label=a%07b`, 'is not a valid label'],
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
    '1000': '1K',
    '1009': '1K',
    '1100': '1.1K',
    '9999': '9.99K',
    '99999': '99.9K',
    '999999': '999K',
    '1000000': '1M',
    '1284000': '1.28M',
    '999999999': '999M',
    '1000000000': '1B',
    '999999999999': '999B',
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
  const service = await startTestApp({ sources: [source] });
  try {
    for (const [at, count] of counts.entries()) {
      const { message } = (await service.get(`/api/badge/${numberedChannelId(at)}`)).json();
      expect([count, message]).toEqual([count, messages[count as keyof typeof messages]]);
    }
    // A count that is unknown.
    expect((await service.get(`/api/badge/${numberedChannelId(99)}`)).json().message).toBe('hidden');
  } finally {
    await service.close();
  }
});

test('a badge may be cached as long as the record, and by shields.io for at least five minutes', async () => {
  const source = createStub({ channel: record({ subscriberCount: '12' }) });
  const service = await startTestApp({ sources: [source] });
  try {
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
  } finally {
    await service.close();
  }
});

describe('a badge image', () => {
  let service: TestApp;
  beforeAll(async () => {
    service = await startTestApp();
  });
  afterAll(() => service.close());

  const titleOf = (svg: string) => /<title>(.*?)<\/title>/.exec(svg)?.[1];

  test.each([
    [`${SAMPLE}.svg`, 'subscribers: 1.28M'],
    [`${SAMPLE}.svg?metric=views`, 'views: 96.3M'],
    ['@pennantsample.svg', 'subscribers: 1.28M'],
    ['pennantsample.svg?metric=videos', 'videos: 412'],
    ['lanternhours.svg', 'subscribers: hidden'],
    [`${SAMPLE}.svg?label=${encodeURIComponent('Zuschauer · 視聴者 😀')}`, 'Zuschauer · 視聴者 😀: 1.28M'],
    [`${SAMPLE}.svg?label=${'😀'.repeat(60)}`, `${'😀'.repeat(60)}: 1.28M`],
    [`${SAMPLE}.svg?style=for-the-badge`, 'SUBSCRIBERS: 1.28M'],
    [`${SAMPLE}.svg?style=social`, 'Subscribers: 1.28M'],
  ])('of %s shows "%s"', async (request, title) => {
    const { status, headers, text } = await service.get(`/api/badge/${request}`);
    expect([status, headers['content-type']]).toEqual([200, 'image/svg+xml']);
    expect(titleOf(text)).toBe(title);
  });

  test.each(['flat', 'flat-square', 'plastic', 'for-the-badge', 'social'])(
    'in the style %s escapes the label and loads nothing',
    async (style) => {
      const label = '<script>alert("1")</script>&\'';
      const { text } = await service.get(`/api/badge/${SAMPLE}.svg?style=${style}&label=${encodeURIComponent(label)}`);
      expect(text).not.toMatch(/<script|<image|<foreignObject|\shref=|url\((?!#)/i);
      expect(text.toLowerCase()).toContain('&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt;&amp;&apos;');
      const size = await sharp(Buffer.from(text)).metadata();
      expect(size.width).toBeGreaterThan(100);
    },
  );

  test('has the color of its parameter', async () => {
    const colorOf = async (query: string) => {
      const { text } = await service.get(`/api/badge/${SAMPLE}.svg?style=flat-square${query}`);
      const { data, info } = await sharp(Buffer.from(text)).removeAlpha().raw().toBuffer({ resolveWithObject: true });
      const at = (2 * info.width + info.width - 3) * info.channels;
      return data.subarray(at, at + 3).toString('hex');
    };
    expect(await colorOf('&color=0a0b0c')).toBe('0a0b0c');
    expect(await colorOf('&color=FA0')).toBe('ffaa00');
    expect(await colorOf('&color=blue')).toBe('007ec6');
    expect(await colorOf('')).toBe('dd4343');
  });

  test('may run nothing, and is cached for at least five minutes', async () => {
    const service = await startWithoutEncoder(fetchedSamples());
    const first = await service.get(`/api/badge/${SAMPLE}.svg`);
    expect(first.headers).toMatchObject({
      'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; sandbox",
      'cache-control': 'public, max-age=3600',
      'cross-origin-resource-policy': 'cross-origin',
    });
    service.clock.advance(3_500_000);
    const later = await service.get(`/api/badge/${SAMPLE}.svg`, { 'if-none-match': first.headers.etag ?? '' });
    expect([later.status, later.headers['cache-control']]).toEqual([304, 'public, max-age=300']);
  });

  test('of a channel that does not exist is a 404', async () => {
    const response = await service.get('/api/badge/@nobodyhasthisone.svg');
    expect([response.status, response.json().code]).toEqual([404, 'channel_not_found']);
  });
});
