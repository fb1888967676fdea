import { describe, expect, test } from 'vitest';
import { useTestApp } from '../helpers/app.ts';
import { createFakeEncoder } from '../helpers/fake-encoder.ts';
import { fetchedSamples } from '../helpers/fetched-samples.ts';

const SAMPLE = 'UCPennantSample00000001A';
/** The fields that extend the life of the client's copy (RFC 9110, section 15.4.5), and those of every response. */
const KEPT = [
  'cache-control',
  'etag',
  'last-modified',
  'vary',
  'access-control-allow-origin',
  'access-control-expose-headers',
  'cross-origin-resource-policy',
  'timing-allow-origin',
  'x-content-type-options',
];

const service = useTestApp({ encoder: createFakeEncoder(), ...fetchedSamples() });

describe.each([
  ['a record', `/channel/${SAMPLE}`, 3_600],
  ['a search', '/api/search?q=crops', 600],
  ['an image', `/${SAMPLE}/tv`, 86_400],
])('%s that the client already has', (what, url, maxAgeSeconds) => {
  test('gets a 304 with the caching fields of the full response', async () => {
    const first = await service.get(url);
    expect(first.headers['cache-control']).toBe(`public, max-age=${maxAgeSeconds}`);
    service.clock.advance(60_000);
    const whole = await service.get(url);
    service.clock.advance(2_000);
    const confirmed = await service.get(url, { 'if-none-match': String(first.headers.etag) });
    expect([confirmed.status, confirmed.bytes.length]).toEqual([304, 0]);
    const ageSeconds = what === 'an image' ? 0 : 62;
    const expected = Object.fromEntries(KEPT.map((name) => [name, whole.headers[name]]));
    expect(Object.fromEntries(KEPT.map((name) => [name, confirmed.headers[name]]))).toEqual({
      ...expected,
      'cache-control': `public, max-age=${maxAgeSeconds - ageSeconds}`,
    });
    expect(confirmed.headers['cache-status']).toMatch(/^pennant; hit; ttl=\d+$/);
    expect(confirmed.headers['x-request-id']).toBeTruthy();
    expect(confirmed.headers).not.toHaveProperty('content-type');
  });
});

test.each(['/', '/problems', '/openapi.json', '/favicon.ico'])(
  '%s is a 304 for a client that has it, and sent in full to all others',
  async (url) => {
    const first = await service.get(url);
    const confirmed = await service.get(url, { 'if-none-match': String(first.headers.etag) });
    expect([confirmed.status, confirmed.bytes.length]).toEqual([304, 0]);
    const other = await service.get(url, { 'if-none-match': '"another"' });
    expect([other.status, other.bytes]).toEqual([200, first.bytes]);
  },
);

test.each([
  [304, 'If-None-Match', 'W/ETAG'],
  [304, 'If-None-Match', '*'],
  [304, 'If-None-Match', '"other", ETAG'],
  [200, 'If-None-Match', '"other"'],
  [200, 'If-None-Match', 'no entity tag'],
  [304, 'If-Modified-Since', 'LAST'],
  [304, 'If-Modified-Since', 'Thu, 01 Jan 2099 00:00:00 GMT'],
  [200, 'If-Modified-Since', 'Thu, 01 Jan 2015 00:00:00 GMT'],
  [200, 'If-Modified-Since', '2099-01-01T00:00:00Z'],
  [200, 'Range', 'bytes=0-9'],
])('an image is a %i for %s: %s', async (status, field, value) => {
  const url = `/${SAMPLE}/tv.webp`;
  const { etag = '', 'last-modified': last = '' } = (await service.get(url)).headers;
  const condition = { [field.toLowerCase()]: value.replace('ETAG', etag).replace('LAST', last) };
  expect((await service.get(url, condition)).status).toBe(status);
  const changed = await service.get(url, { ...condition, 'if-none-match': '"other"' });
  expect(changed.status).toBe(200);
});
