import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startTestApp, type TestApp } from '../helpers/app.ts';
import { createHttpSender, type HttpSender } from '../helpers/http-request.ts';

/*
 * A detail that advises something is followed to the letter: what it advises must work.
 */

const ID = 'UCPennantSample00000001A';

let service: TestApp;
let client: HttpSender;
beforeAll(async () => {
  service = await startTestApp();
  // A real socket: what injects requests resolves dot segments and fragments itself.
  client = createHttpSender(await service.listen());
});
afterAll(async () => {
  client.close();
  await service.close();
});

interface ReadAnswer {
  readonly status: number;
  /** Of an error. */
  readonly code: string | undefined;
  readonly detail: string;
}

async function get(url: string): Promise<ReadAnswer> {
  const { status, headers, bytes } = await client.send({ url });
  if (headers['content-type'] !== 'application/problem+json') return { status, code: undefined, detail: '' };
  const { code, detail } = JSON.parse(bytes.toString());
  return { status, code, detail };
}

/** What a reader makes of the advice in a detail; `undefined` where there is none. */
const READINGS: readonly [advice: RegExp, follow: (url: string, found: RegExpExecArray) => string][] = [
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
  ])('to %s leads to an answer', async (url) => {
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
  ])('to %s leads to what can be a %s', async (url, kind) => {
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
  ])('is left out for %s, which nothing would make right', async (url) => {
    const { status, detail } = await get(url);
    expect(status).toBe(400);
    expect(follow(url, detail)).toBeUndefined();
  });
});
