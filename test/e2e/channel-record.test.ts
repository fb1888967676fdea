import { describe, expect, test } from 'vitest';
import { startWithoutEncoder, type TestApp, useTestApp } from '../helpers/app.ts';
import { createFakeEncoder } from '../helpers/fake-encoder.ts';
import { fetchedSamples } from '../helpers/fetched-samples.ts';

const SAMPLE = 'UCPennantSample00000001A';
const BARE_SAMPLE = 'UCPennantSample00000002A';
const FIELDS = [
  'channelId',
  'title',
  'description',
  'customUrl',
  'publishedAt',
  'country',
  'subscriberCount',
  'viewCount',
  'videoCount',
  'bannerUrl',
  'avatarUrl',
  'bannerUrls',
  'links',
];

const service = useTestApp({ encoder: createFakeEncoder() });

describe('the channel record', () => {
  test('has exactly the 13 fields, in their order, with URLs on this service', async () => {
    const response = await service.get(`/api/channel/${SAMPLE}`);
    expect(response.status).toBe(200);
    expect(response.headers['content-type']).toBe('application/json; charset=utf-8');
    const record = response.json();
    expect(Object.keys(record)).toEqual(FIELDS);
    expect(record).toMatchObject({
      channelId: SAMPLE,
      customUrl: '@pennantsample',
      bannerUrl: `http://pennant.test/api/banner/${SAMPLE}`,
      avatarUrl: `http://pennant.test/api/banner/${SAMPLE}?type=avatar`,
      bannerUrls: {
        default: `http://pennant.test/api/banner/${SAMPLE}`,
        tv: `http://pennant.test/api/banner/${SAMPLE}?type=tv`,
        desktop: `http://pennant.test/api/banner/${SAMPLE}?type=desktop`,
        tablet: `http://pennant.test/api/banner/${SAMPLE}?type=tablet`,
        mobile: `http://pennant.test/api/banner/${SAMPLE}?type=mobile`,
        avatar: `http://pennant.test/api/banner/${SAMPLE}?type=avatar`,
      },
    });
    expect(record.publishedAt).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
    for (const count of ['subscriberCount', 'viewCount', 'videoCount']) expect(record[count]).toMatch(/^\d+$/);
    expect((record.links as unknown[]).length).toBeGreaterThanOrEqual(2);
  });

  test('has null for values that are unknown, hidden or absent', async () => {
    const record = (await service.get(`/api/channel/${BARE_SAMPLE}`)).json();
    expect(record).toMatchObject({ subscriberCount: null, country: null, links: [], bannerUrl: null });
    expect(record.bannerUrls).toMatchObject({ default: null, tv: null, desktop: null, tablet: null, mobile: null });
    expect(record.avatarUrl).toContain(BARE_SAMPLE);
  });

  test.each([
    ['a channel ID', `/api/channel/${SAMPLE}`],
    ['a channel ID by type', `/api/channel/${SAMPLE}?type=id`],
    ['a handle', '/api/channel/pennantsample?type=handle'],
    ['a handle in other letter case', '/api/channel/PennantSample?type=handle'],
    ['a handle with its @', '/api/channel/@pennantsample?type=handle'],
    ['a handle with an encoded @', '/api/channel/%40pennantsample?type=handle'],
    ['a username', '/api/channel/pennantsample?type=username'],
    ["a channel page's path", `/channel/${SAMPLE}`],
    ["a user page's path", '/user/pennantsample'],
    ["a custom name's path", '/c/PennantSample'],
    ['empty segments and a trailing slash', `//api//channel/${SAMPLE}/`],
    ['an unknown parameter', `/api/channel/${SAMPLE}?cachebuster=1`],
  ])('is found by %s', async (_what, url) => {
    const response = await service.get(url);
    expect([response.status, response.json().channelId]).toEqual([200, SAMPLE]);
  });

  test('has URLs in the short form with URL_FORM=short, and both forms are served', async () => {
    const short = await startWithoutEncoder({ env: { URL_FORM: 'short', BASE_URL: 'https://img.example' } });
    const record = (await short.get(`/api/channel/${SAMPLE}`)).json();
    expect(record.bannerUrls).toEqual({
      default: `https://img.example/${SAMPLE}`,
      tv: `https://img.example/${SAMPLE}/tv`,
      desktop: `https://img.example/${SAMPLE}?type=desktop`,
      tablet: `https://img.example/${SAMPLE}?type=tablet`,
      mobile: `https://img.example/${SAMPLE}/mobile`,
      avatar: `https://img.example/${SAMPLE}/avatar`,
    });
    for (const url of [`/${SAMPLE}/avatar`, `/api/banner/${SAMPLE}?type=avatar`]) {
      expect((await short.get(url)).status).toBe(200);
    }
  });

  test('never takes its URLs from X-Forwarded-Host or Forwarded', async () => {
    const record = (
      await service.get(`/api/channel/${SAMPLE}`, {
        'x-forwarded-host': 'evil.example',
        forwarded: 'host=evil.example',
      })
    ).text;
    expect(record).not.toContain('evil');
  });

  test('takes https from X-Forwarded-Proto only if a trusted proxy sent it', async () => {
    const urlBy = async (app: TestApp, proto: string) =>
      (await app.get(`/api/channel/${SAMPLE}`, { 'x-forwarded-proto': proto })).json().bannerUrl;
    expect(await urlBy(service, 'https')).toBe(`http://pennant.test/api/banner/${SAMPLE}`);
    const behind = await startWithoutEncoder({ env: { TRUST_PROXY: '127.0.0.0/8' } });
    // Each proxy of a chain adds a value at the end.
    for (const proto of ['https', 'HTTPS', 'https, https', 'https,http']) {
      expect([proto, await urlBy(behind, proto)]).toEqual([proto, `https://pennant.test/api/banner/${SAMPLE}`]);
    }
    for (const proto of ['http', 'ftp', 'http, https', 'httpsx', '']) {
      expect(await urlBy(behind, proto)).toBe(`http://pennant.test/api/banner/${SAMPLE}`);
    }
  });

  test('may be cached for the rest of its hour, and has a strong ETag', async () => {
    const fresh = await startWithoutEncoder(fetchedSamples());
    const first = await fresh.get(`/api/channel/${SAMPLE}`);
    expect(first.headers['cache-control']).toBe('public, max-age=3600');
    expect(first.headers['cache-status']).toBe('pennant; fwd=uri-miss; stored');
    fresh.clock.advance(600_000);
    const second = await fresh.get('/api/channel/pennantsample?type=handle');
    expect(second.headers['cache-control']).toBe('public, max-age=3000');
    expect(second.headers['cache-status']).toBe('pennant; hit; ttl=3000');
    expect(second.headers.age).toBeUndefined();
    expect(first.headers.etag).toMatch(/^"[^"]+"$/);
  });

  test('is a 404 that may be cached for a minute when no source has the channel', async () => {
    const service = await startWithoutEncoder(fetchedSamples());
    const url = '/api/channel/UCnobodyhasthisone000000';
    const response = await service.get(url);
    expect([response.status, response.json().code]).toEqual([404, 'channel_not_found']);
    expect(response.headers['cache-control']).toBe('public, max-age=60');
    expect(response.headers['cache-status']).toBe('pennant; fwd=uri-miss; stored');
    service.clock.advance(20_000);
    const again = await service.get(url);
    expect(again.headers['cache-control']).toBe('public, max-age=40');
    expect(again.headers['cache-status']).toBe('pennant; hit; ttl=40');
  });

  test.each([
    [`/api/channel/${SAMPLE}?type=Handle`, 'id, username, handle'],
    [`/api/channel/${SAMPLE}?type=`, 'id, username, handle'],
    [`/api/channel/${SAMPLE}?type=id&type=id`, 'more than once'],
  ])('for %s is an error that says what to do instead', async (url, hint) => {
    const response = await service.get(url);
    expect([response.status, response.json().code]).toEqual([400, 'invalid_parameter']);
    expect(response.json().detail).toContain(hint);
  });
});
