import { describe, expect, test } from 'vitest';
import { BADGE_IMAGE_MS } from '../../src/http/routes/badges.ts';
import { startForTest, type TestApp, type TestAppOptions, useTestApp } from '../helpers/app.ts';
import { createHeldSource, createStub, HELD_CHANNEL_ID, HELD_HANDLE } from '../helpers/fake-source.ts';

/* A badge never breaks a page: GitHub's image proxy, and others, show nothing of a response with another status than 200. */

const SAMPLE = 'UCPennantSample00000001A';

const catalog = useTestApp();

const titleOf = (svg: string) => /<title>(.*?)<\/title>/.exec(svg)?.[1];
const GREY = 'fill="#939393"';

const PATHS = [
  [`/api/badge/${SAMPLE}.svg`, 'subscribers'],
  [`/youtube/channel/subscribers/${SAMPLE}`, 'subscribers'],
  [`/youtube/channel/subscribers/${SAMPLE}.svg`, 'subscribers'],
  [`/youtube/channel/views/${SAMPLE}`, 'views'],
] as const;

/** The title of a badge that shows an error. */
async function read(service: TestApp, url: string): Promise<string | undefined> {
  const { status, headers, text } = await service.get(url);
  const { 'content-type': type, 'cache-control': cacheControl } = headers;
  expect([url, status, type, cacheControl]).toEqual([url, 200, 'image/svg+xml', 'public, max-age=60']);
  expect(headers['content-security-policy']).toContain("default-src 'none'");
  expect(headers['retry-after']).toBeUndefined();
  return titleOf(text);
}

test.each([
  ['style=round', 'invalid style'],
  ['color=12345', 'invalid color'],
  ['color=', 'invalid color'],
  ['labelColor=nocolor', 'invalid labelColor'],
  ['logo=youtube&logoColor=%22/%3E', 'invalid logoColor'],
  [`label=${'x'.repeat(61)}`, 'invalid label'],
  ['label=a%07b', 'invalid label'],
  // The names of the methods of every object, which a lookup in a plain object finds.
  ['color=constructor&labelColor=red', 'invalid color'],
  ['labelColor=__proto__', 'invalid labelColor'],
  ['logo=youtube&logoColor=toString', 'invalid logoColor'],
  ['label=on%20YouTube&color=nocolor&labelColor=1', 'invalid color'],
])('a badge says which parameter is not valid: %s', async (query, message) => {
  for (const [path, metric] of PATHS) {
    const label = query.includes('on%20YouTube') ? 'on YouTube' : metric;
    expect((await read(catalog, `${path}?${query}`))?.toLowerCase()).toBe(`${label}: ${message}`.toLowerCase());
    // Nothing of a bad parameter is drawn.
    expect((await catalog.get(`${path}?${query}`)).text).not.toMatch(/undefined|nocolor|12345|\/>"/);
  }
});

test.each<[message: string, what: string, options: TestAppOptions]>([
  ['not found', 'no such channel', { sources: [createStub({ channel: 'channel_not_found' })] }],
  ['not available', 'a take-down', { env: { BLOCKED_CHANNELS: SAMPLE } }],
  ...(['upstream_unavailable', 'upstream_invalid', 'upstream_timeout', 'overloaded'] as const).map(
    (channel) => ['unavailable', channel, { sources: [createStub({ channel })] }] as [string, string, TestAppOptions],
  ),
  ['unavailable', 'a bug', { sources: [createStub({ channel: new Error('oops') })] }],
])('a badge is grey and says "%s" for %s', async (message, _what, options) => {
  const service = await startForTest(options);
  for (const [path, metric] of PATHS) {
    const url = `${path}?style=flat&color=blue&labelColor=white`;
    expect(await read(service, url)).toBe(`${metric}: ${message}`);
    const { text } = await service.get(url);
    expect(text).toContain(GREY);
    expect(text).not.toMatch(/fill="(?:#007ec6|white)"/);
  }
});

describe.each([`/api/badge/${HELD_CHANNEL_ID}.svg`, `/youtube/channel/views/${HELD_HANDLE}`])(
  '%s is in time for image proxies',
  (path) => {
    test('grey 3 s after the request, while the load goes on for the next one', async () => {
      const source = createHeldSource();
      const service = await startForTest({ sources: [source] });
      const { release } = source.hold();
      const badge = read(service, path);
      await service.clock.passTimer(BADGE_IMAGE_MS);
      expect(await badge).toMatch(/: unavailable$/);
      release();
      expect(titleOf((await service.get(path)).text)).toMatch(/: hidden$/);
    });

    test('the last good count, while its new one is not there', async () => {
      const source = createHeldSource();
      const service = await startForTest({ sources: [source] });
      await service.get(path);
      service.clock.advance(2 * 3_600_000);
      source.hold();
      const badge = service.get(path);
      await service.clock.passTimer(2_000);
      expect(titleOf((await badge).text)).toMatch(/: hidden$/);
    });
  },
);

test.each(['/api/badge/%20.svg', `/api/badge/${SAMPLE}.png.svg`, `/youtube/channel/views/${'x'.repeat(99)}`])(
  'a badge says that the channel in %s is not valid',
  async (path) => {
    const { status, text } = await catalog.get(path);
    expect([status, titleOf(text)]).toEqual([200, expect.stringMatching(/: invalid channel$/)]);
  },
);

test('HEAD has the same header section, a client’s copy is current, and a preflight has its own responses', async () => {
  const url = '/api/badge/@nobodyhasthisone.svg';
  const { headers } = await catalog.get(url);
  const head = await catalog.request({ url, method: 'HEAD' });
  expect([head.status, head.text]).toEqual([200, '']);
  expect(head.headers.etag).toBe(headers.etag);
  const unchanged = await catalog.get(url, { 'if-none-match': headers.etag ?? '' });
  expect([unchanged.status, unchanged.headers['cache-control']]).toEqual([304, 'public, max-age=60']);
  expect((await catalog.request({ url, method: 'OPTIONS' })).status).toBe(204);
  const invalid = await catalog.request({ url: '/api/badge/%20.svg', method: 'OPTIONS' });
  expect([invalid.status, invalid.json().code]).toEqual([400, 'invalid_parameter']);
});

test('an error that concerns no badge is JSON: the rate limit, a method, malformed HTTP, another path', async () => {
  const service = await startForTest({ env: { RATE_LIMIT_OVERRIDES: '' } });
  const path = `/youtube/channel/subscribers/${SAMPLE}.svg`;
  const ask = async (url: string, method = 'GET') => {
    const { status, headers } = await service.request({ url, method });
    return [status, headers['content-type']];
  };
  expect(await ask(path, 'POST')).toEqual([405, 'application/problem+json']);
  expect(await ask('/api/badge/a%2Fb.svg')).toEqual([400, 'application/problem+json']);
  expect(await ask('/youtube/views/dQw4w9WgXcQ')).toEqual([404, 'application/problem+json']);
  expect(await ask(`/youtube/channel/likes/${SAMPLE}`)).toEqual([404, 'application/problem+json']);
  for (let at = 4; at < 10; at += 1) expect((await ask(path))[0]).toBe(200);
  expect(await ask(path)).toEqual([429, 'application/problem+json']);
});
