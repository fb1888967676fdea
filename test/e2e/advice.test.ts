import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startTestApp, type TestApp } from '../helpers/app.ts';
import { createFakeEncoder } from '../helpers/fake-encoder.ts';
import { createHttpSender, type HttpSender } from '../helpers/http-request.ts';

/*
 * Follows the advice in every `detail` literally: it must work.
 */

const ID = 'UCPennantSample00000001A';

let service: TestApp;
let client: HttpSender;
beforeAll(async () => {
  service = await startTestApp({ encoder: createFakeEncoder() });
  // A real socket, because injected requests lose dot segments and fragments.
  client = createHttpSender(await service.listen());
});
afterAll(async () => {
  client.close();
  await service.close();
});

interface ReadResponse {
  readonly status: number;
  /** The detail of an error. */
  readonly code: string | undefined;
  readonly detail: string;
}

async function get(url: string): Promise<ReadResponse> {
  const { status, headers, bytes } = await client.send({ url });
  if (headers['content-type'] !== 'application/problem+json') return { status, code: undefined, detail: '' };
  const { code, detail } = JSON.parse(bytes.toString());
  return { status, code, detail };
}

/** The request that a detail advises, or `undefined` if it advises none. */
const READINGS: readonly [advice: RegExp, follow: (url: string, found: RegExpExecArray) => string][] = [
  [/Did you mean (\/\S+)\?(?: |$)/, (_url, [, path = '']) => path],
  [/add (\?type=\w+)/, (url, [, query]) => url + query],
  [/ask for (\/\S+)\./, (_url, [, path = '']) => path],
  [/(?:parameter "|valid )(\w+).* Valid: (\w+),/, (url, [, name = '', value]) => withParameter(url, name, value)],
  [
    /(?:parameter "|valid )(\w+).* Valid: a whole number from (\d+) to/,
    (url, [, name = '', value]) => withParameter(url, name, value),
  ],
  [/(?:parameter "|valid )(\w+).* Valid: a text of/, (url, [, name = '']) => withParameter(url, name, 'pennant')],
  [/parameter "(\w+)" .*Give it once/, (url, [, name = '']) => withParameter(url, name, valuesOf(url, name)[0])],
  [/the parameter "(\w+)" says .*leave one of them out/, (url, [, name = '']) => withParameter(url, name, undefined)],
  [/last part of the path is one of (\w+),/, (url, [, variant]) => url.replace(/[^/?]+(?=\?|$)/, () => `${variant}`)],
  [/The extension is not one of (\w+),/, (url, [, format]) => url.replace(/\.\w+(?=\?|$)/, `.${format}`)],
  [/leave the fragment out/, (url) => url.replace(/#.*/, '')],
  [/write the path without it/, (url) => url.replace(/\/(?:\.{1,2}|%2e)(?=\/)/gi, '')],
  [/GET \/ lists the endpoints/, () => '/'],
];

function withParameter(url: string, name: string, value: string | undefined): string {
  const [path, query] = url.split('?');
  const parameters = new URLSearchParams(query);
  parameters.delete(name);
  if (value !== undefined) parameters.set(name, value);
  return `${path}?${parameters}`;
}

function valuesOf(url: string, name: string): string[] {
  return new URLSearchParams(url.split('?')[1]).getAll(name);
}

function follow(url: string, detail: string): string | undefined {
  for (const [advice, read] of READINGS) {
    const found = advice.exec(detail);
    if (found !== null) return read(url, found);
  }
  return undefined;
}

describe('"Did you mean …?"', () => {
  test.each([
    // A name alone
    ['/pennantsample', '/@pennantsample'],
    ['/PennantSample/', '/@PennantSample'],
    // A channel ID with something wrong
    [`/%22${ID}%22`, `/${ID}`],
    [`/UU${ID.slice(2)}`, `/${ID}`],
    [`/${ID.slice(2)}`, `/${ID}`],
    [`/api/channel/${ID.slice(2)}`, `/${ID}`],
    [`/${ID},`, `/${ID}`],
    // A tab of a channel page
    ['/@pennantsample/videos', '/@pennantsample'],
    [`/${ID}/about`, `/${ID}`],
    [`/channel/${ID}/videos`, `/channel/${ID}`],
    ['/user/pennantsample/videos', '/user/pennantsample'],
    [`/c/${ID}/videos`, `/channel/${ID}`],
    ['/c/pennantsample/featured', '/c/pennantsample'],
    // A pasted URL
    ['/https://www.youtube.com/@pennantsample', '/@pennantsample'],
    [`/https://m.youtube.com/channel/${ID}/videos`, `/${ID}`],
    ['/youtube.com/@pennantsample', '/@pennantsample'],
    ['/api/channel/https://www.youtube.com/@pennantsample', '/api/channel/pennantsample?type=handle'],
    [`/api/channel/https://www.youtube.com/channel/${ID}`, `/api/channel/${ID}`],
    ['/api/banner/https://www.youtube.com/user/pennantsample', '/api/banner/pennantsample'],
    ['/api/channel/https%3A%2F%2Fwww.youtube.com%2F%40pennantsample', '/api/channel/pennantsample?type=handle'],
    // Another path of this service
    ['/search?q=pennant', '/api/search?q=pennant'],
    [`/channels?ids=${ID}`, `/api/channels?ids=${ID}`],
    ['/badge/pennantsample', '/api/badge/@pennantsample'],
    ['/badge/pennantsample/tv', '/api/badge/@pennantsample'],
    [`/banner/${ID}`, `/api/banner/${ID}`],
    [`/API/Channel/${ID}`, `/api/channel/${ID}`],
    // The `type` of another path
    [`/api/channel/${ID}?type=tv`, `/api/banner/${ID}?type=tv`],
    [`/api/channel/${ID}?type=phone`, `/api/banner/${ID}?type=mobile`],
    ['/api/banner/pennantsample?type=handle', '/api/banner/@pennantsample'],
    [`/${ID}?type=id`, `/api/banner/${ID}`],
    // An ID that was read as a name
    [`/@${ID}`, `/${ID}`],
    [`/api/channel/${ID}?type=handle`, `/channel/${ID}`],
    [`/api/channel/${ID}?type=username`, `/channel/${ID}`],
    [`/c/${ID}`, `/channel/${ID}`],
    // Lists
    ['/api/channels?ids=pennantsample', '@pennantsample'],
  ])('for %s is %s, which works', async (url, expected) => {
    const { status, detail } = await get(url);
    expect([400, 404]).toContain(status);
    expect(detail).toContain(`Did you mean ${expected}?`);
    const advised = expected.startsWith('/') ? expected : url.replace(/[^=]+$/, expected);
    expect([advised, (await get(advised)).status]).toEqual([advised, 200]);
  });

  test.each([
    ['/wp-login.php', 'a file'],
    ['/.env', 'a hidden file'],
    ['/robots.txt', 'a file'],
    ['/---', 'no name'],
    [`/${'a'.repeat(31)}`, 'too long a name'],
    [`/${'a/'.repeat(4000)}`, 'a long path'],
    ['/a/b/c', 'many segments'],
    ['/!!!/TV', 'an image of no name'],
    ['/api/@!!!', 'a handle that cannot be one'],
    ['/api/channels/@!!!', 'a list with such a handle'],
  ])('is not in the error for %s: %s', async (url) => {
    const { status, detail } = await get(url);
    expect([status, detail]).toEqual([
      404,
      expect.stringMatching(/^There is nothing at ".{1,62}"\. GET \/ lists the endpoints\.$/),
    ]);
  });
});

describe('a path of another listener', () => {
  test.each([
    '/playground',
    '/playground/',
    '/playground/gallery/',
    '/Playground',
    '/healthz',
    '/healthz/',
    '/readyz',
    '/metrics',
    '/metrics/',
    '/console',
  ])('%s leads to the private listener', async (url) => {
    const { status, detail } = await get(url);
    expect([status, detail]).toEqual([404, expect.not.stringContaining('Did you mean')]);
    const [, path = ''] = /: (\/\S*) on the private port/.exec(detail) ?? [];
    expect([url, path, (await service.console(path)).status]).toEqual([url, expect.stringMatching(/^\//), 200]);
  });
});

describe('a channel ID in the wrong letter case', () => {
  // Valid as an ID, a handle or a user name, but of no channel.
  const wrong = ID.toLowerCase();

  test.each([
    `/${wrong}`,
    `/uc${ID.slice(2)}`,
    `/${wrong}/avatar`,
    `/${ID.toUpperCase()}`,
    `/@${wrong}`,
    `/channel/UC${wrong.slice(2)}`,
    `/channel/${wrong}`,
    `/api/channel/${wrong}`,
    `/api/channel/${ID.toUpperCase()}`,
    `/api/banner/${wrong}`,
    `/api/banner/${wrong}/tv`,
    `/c/${wrong}`,
    `/user/${wrong}`,
    `/api/badge/${wrong}`,
    `/api/channels?ids=${wrong}`,
  ])('%s: is said to be case-sensitive', async (url) => {
    const { status, detail } = await get(url);
    expect([400, 404]).toContain(status);
    expect(detail).toContain('hannel IDs are case-sensitive');
    expect(detail).not.toMatch(/add \?type=|Did you mean|has \d+ characters/);
  });
});

describe('an extension after a handle', () => {
  test.each([
    ['png', 'PNG', 'png', 'image/png'],
    ['jpg', 'JPEG', 'jpg', 'image/jpeg'],
    ['jpeg', 'JPEG', 'jpg', 'image/jpeg'],
    ['webp', 'WebP', 'webp', 'image/webp'],
    ['AVIF', 'AVIF', 'avif', 'image/avif'],
  ])('.%s: for a %s, .%s after the variant', async (extension, name, advised, mediaType) => {
    for (const prefix of ['/', '/api/banner/']) {
      const { status, detail } = await get(`${prefix}@pennantsample.${extension}`);
      const path = `/@pennantsample/default.${advised}`;
      expect([status, detail]).toEqual([404, expect.stringContaining(`For a ${name}: ${path}.`)]);
      const { status: found, headers } = await client.send({ url: path });
      expect([path, found, headers['content-type']]).toEqual([path, 200, mediaType]);
    }
  });
});

describe('a detail repeats what the client sent', () => {
  test.each([
    ['/pennantsample', 'There is nothing at "/pennantsample".'],
    [`/${ID}/4k`, 'There is no image "4k": the last part of the path is one of'],
    [`/${ID.slice(0, 23)}`, `"${ID.slice(0, 23)}" has 23 characters, a channel ID has 24.`],
    [`/api/channel/${ID.slice(0, 23)}`, `"${ID.slice(0, 23)}" has 23 characters, a channel ID has 24.`],
    [`/channel/${ID}x`, `"${ID}x" has 25 characters, a channel ID has 24.`],
    [`/api/channels?ids=${ID}x`, `"${ID}x" has 25 characters, a channel ID has 24.`],
    [`/api/banner/${ID.slice(0, 23)}`, `"${ID.slice(0, 23)}" has 23 characters, a channel ID has 24.`],
    ['/api/channel/pennantsample', '"pennantsample" is not a channel ID'],
    ['/api/banner/!!!', '"!!!" is neither a channel ID'],
    ['/c/%20', '" " can be neither a custom name nor a handle.'],
    ['/api/channel/nobody?type=handle', 'There is no channel with the handle "nobody".'],
    ['/user/nobody', 'There is no channel with the user name "nobody".'],
    ['/api/banner/nobody', 'There is no channel with the handle or user name "nobody".'],
    ['/channel/UCnobodyhasthisone000000', 'There is no channel with the ID "UCnobodyhasthisone000000".'],
    ['/watch?v=dQw4w9WgXcQ', 'That is a video: use the ID or the @handle of its channel.'],
    ['/shorts/dQw4w9WgXcQ', 'That is a video'],
    ['/https://youtu.be/dQw4w9WgXcQ', 'That is a video'],
    ['/api/channel/https://www.youtube.com/watch?v=dQw4w9WgXcQ', 'That is a video'],
    ['/UCPennantSample00000002A/tv', 'This channel has no banner, but it has an avatar.'],
  ])('%s: %s', async (url, expected) => {
    expect((await get(url)).detail).toContain(expected);
  });

  test('without control characters, and truncated', async () => {
    for (const path of [
      '/%1b%5b2J%E2%80%AE/x/y',
      `/${'%F0%9D%92%B3'.repeat(600)}`,
      `/api/channel/${'%F0%9D%92%B3'.repeat(400)}?type=${'%00'.repeat(400)}`,
      `/api/channel/%07%0d%0a?type=handle`,
      `/api/banner/%E2%80%AE%0a`,
      `/${ID}?type=%0d%0aSet-Cookie:%20a`,
      `/search?q=${'%F0%9D%92%B3'.repeat(600)}`,
      `/${ID}/%1b%5b2J`,
      // Unescaped bytes above 127, some of which are control characters.
      '/search?q=\u0085\u009b',
      '/\u0085\u009b/tv',
    ]) {
      const { status, detail } = await get(path);
      expect([400, 404]).toContain(status);
      expect(detail).not.toMatch(/[\p{Cc}\p{Bidi_Control}]/u);
      expect(detail.length).toBeLessThan(800);
    }
  });
});

describe('the advice in an error', () => {
  test.each([
    '/api/channel/pennantsample',
    '/api/channel/@pennantsample',
    '/api/channel/%40pennantsample',
    '//api/channel/pennantsample/',
    '/api/channel/pennantsample?type=id',
    '/api/channel/pennantsample?cachebuster=1',
    '/api/channel/pennantsample?',
    '/channel/pennantsample',
    '/channel/@PennantSample?type=handle',
    '/user/@pennantsample',
    '/user/@pennantsample?type=username',
    `/api/channel/${ID}?type=Handle`,
    `/api/channel/${ID}?type=`,
    `/api/channel/${ID}?type=id&type=id`,
    `/${ID}?type=4k`,
    `/${ID}?format=gif&type=tv`,
    `/${ID}/avatar?width=0`,
    `/${ID}/avatar?height=`,
    `/${ID}/avatar.jpg?quality=101`,
    `/${ID}/avatar?width=48&width=48`,
    `/${ID}/avatar?type=tv&width=48`,
    `/${ID}/avatar.webp?format=png&width=48`,
    `/${ID}/4k?width=48`,
    `/${ID}/tv.gif`,
    '/@pennantsample/4k',
    `/api/banner/${ID}/4k`,
    `/api/banner/${ID}.gif`,
    `/${ID}/avatar#top`,
    `/./${ID}/../avatar`,
    '/api/search',
    '/api/search?q=',
    '/api/search?q=a&q=b',
    '/api/search?q=a&limit=51',
    '/pennantsample',
    '/wp-login.php',
    '/api/banner',
    '/api/4k',
    '/!!!/4k',
    '/a/b/c',
  ])('to %s leads to a response', async (url) => {
    const { status, detail } = await get(url);
    expect([400, 404]).toContain(status);
    const advised = follow(url, detail) ?? `no advice: ${detail}`;
    expect([advised, (await get(advised)).status]).toEqual([advised, 200]);
  });

  test.each([
    ['/api/channel/nobody.has-this', 'handle'],
    [`/api/channel/${ID.slice(0, 23)}`, 'handle'],
    [`/api/channel/${ID}x`, 'handle'],
    ['/channel/%E0%B9%84%E0%B8%97%E0%B8%A2', 'handle'],
    ['/user/%E0%B9%84%E0%B8%97%E0%B8%A2', 'handle'],
    ['/api/channel/%E0%B9%84%E0%B8%97%E0%B8%A2?type=username', 'handle'],
    ['/channel/---', 'username'],
    [`/channel/${'a'.repeat(31)}`, 'username'],
    [`/api/channel/${'a'.repeat(31)}?type=handle`, 'username'],
    ['/api/channel/...?type=handle', 'username'],
  ])('to %s leads to a valid %s', async (url, kind) => {
    const advised = follow(url, (await get(url)).detail) ?? '';
    expect(advised).toMatch(new RegExp(`[?]type=${kind}$`));
    expect([advised, (await get(advised)).code]).toEqual([advised, 'channel_not_found']);
  });

  test.each([
    '/api/channel/%20',
    '/api/channel/%20?type=handle',
    `/api/channel/${'a'.repeat(61)}`,
    '/channel/a%20b',
    '/user/a%20b',
    '/c/%20',
    '/api/banner/!!!',
    '/api/banner/@---',
    '/%zz',
    '/a%2Fb',
  ])('is absent for %s, which no change makes valid', async (url) => {
    const { status, detail } = await get(url);
    expect(status).toBe(400);
    expect(follow(url, detail)).toBeUndefined();
  });
});
