import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestApp, type TestApp } from '../helpers/app.ts';
import { createFakeEncoder } from '../helpers/fake-encoder.ts';
import { createHttpSender, type HttpSender } from '../helpers/http-request.ts';

const ID = 'UCPennantSample00000001A';
const LOWER = ID.toLowerCase();
const SHORT = ID.slice(0, 23);
const THAI = encodeURIComponent('ไทย');

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

async function get(url: string): Promise<{ status: number; detail: string }> {
  const { status, headers, bytes } = await client.send({ url });
  const isProblem = headers['content-type'] === 'application/problem+json';
  return { status, detail: isProblem ? JSON.parse(bytes.toString()).detail : '' };
}

test.each([
  // A bare name
  ['/pennantsample', '/@pennantsample'],
  ['/api/channel/pennantsample', '/api/channel/pennantsample?type=handle'],
  ['/channel/@PennantSample', '/api/channel/PennantSample?type=handle'],
  // An ID without its UC, or an uploads list
  [`/${ID.slice(2)}`, `/${ID}`],
  [`/UU${ID.slice(2)}`, `/${ID}`],
  [`/api/badge/UU${ID.slice(2)}`, `/${ID}`],
  // A pasted address, or an ID with something around it
  [`/%22${ID}%22`, `/${ID}`],
  [`/${ID},`, `/${ID}`],
  [`/api/channel/${ID}.json`, `/channel/${ID}`],
  [`/c/${ID}`, `/channel/${ID}`],
  ['/https://www.youtube.com/@pennantsample', '/@pennantsample'],
  [`/https://m.youtube.com/channel/${ID}/videos`, `/${ID}`],
  [`/https://www.youtube.com/feeds/videos.xml?channel_id=${ID}`, `/${ID}`],
  ['/youtube.com/pennantsample/about', '/c/pennantsample'],
  ['/https://consent.youtube.com/m?continue=https%3A%2F%2Fwww.youtube.com%2F%40pennantsample', '/@pennantsample'],
  ['/api/channel/https://www.youtube.com/@pennantsample', '/api/channel/pennantsample?type=handle'],
  ['/api/badge/youtube.com/@pennantsample', '/api/badge/@pennantsample'],
  // A tab of a channel page
  ['/@pennantsample/videos', '/@pennantsample'],
  [`/channel/${ID}/videos`, `/channel/${ID}`],
  ['/user/pennantsample/videos', '/user/pennantsample'],
  // The `type` of the other endpoint
  [`/api/channel/${ID}?type=tv`, `/api/banner/${ID}?type=tv`],
  ['/api/banner/pennantsample?type=handle', '/@pennantsample'],
  [`/${ID}?type=id`, `/${ID}`],
  // An extension behind a handle
  ['/@pennantsample.png', '/@pennantsample/default.png'],
  // A misspelt endpoint
  ['/search?q=pennant', '/api/search?q=pennant'],
  [`/channels?ids=${ID}`, `/api/channels?ids=${ID}`],
  ['/badge/pennantsample/tv', '/api/badge/@pennantsample'],
  [`/API/Channel/${ID}`, `/channel/${ID}`],
  [`/api/channels/${ID}`, `/channel/${ID}`],
])('%s: did you mean %s, which works', async (url, advised) => {
  const { status, detail } = await get(url);
  expect([400, 404]).toContain(status);
  expect(detail).toContain(`Did you mean ${advised}?`);
  expect((await get(advised)).status).toBe(200);
});

test.each([
  // An ID in the wrong letter case: valid as an ID, a handle or a user name, but of no channel
  ...[
    LOWER,
    `uc${ID.slice(2)}`,
    ID.toUpperCase(),
    `@${LOWER}`,
    `channel/UC${LOWER.slice(2)}`,
    `api/badge/${LOWER}`,
  ].map((path) => [`/${path}`, 'Channel IDs are case-sensitive.']),
  [`/${LOWER}/avatar`, 'Channel IDs are case-sensitive.'],
  // An ID of the wrong length
  [`/${SHORT}`, `"${SHORT}" has 23 characters, a channel ID has 24.`],
  [`/api/channel/${SHORT}`, `"${SHORT}" has 23 characters, a channel ID has 24.`],
  [`/channel/${ID}x`, `"${ID}x" has 25 characters, a channel ID has 24.`],
  // A video or a playlist
  ['/watch?v=dQw4w9WgXcQ', 'That is a video: use the ID or the @handle of a channel.'],
  ['/shorts/dQw4w9WgXcQ', 'That is a video'],
  ['/api/channel/https://www.youtube.com/watch?v=dQw4w9WgXcQ', 'That is a video'],
  ['/youtube.com/playlist?list=PL1', 'That is a playlist'],
  ['/https://www.youtube.com/feed/explore', 'That is a page without a channel'],
  // A path of the private listener
  ...['/playground/gallery', '/healthz', '/readyz', '/metrics'].map((path) => [path, 'That is on the private port.']),
  // Names of no channel, for which the advice is still the right one
  [`/user/${THAI}`, `Did you mean /api/channel/${THAI}?type=handle?`],
  [`/channel/${'a'.repeat(31)}`, `Did you mean /user/${'a'.repeat(31)}?`],
])('%s: %s', async (url = '', advice) => {
  const { status, detail } = await get(url);
  expect([400, 404]).toContain(status);
  expect(detail).toContain(advice);
});

test.each([
  ['/wp-login.php', 'There is nothing at "/wp-login.php". GET / lists the endpoints.'],
  ['/.env', 'There is nothing at "/.env". GET / lists the endpoints.'],
  ['/api/@!!!', 'There is nothing at "/api/@!!!". GET / lists the endpoints.'],
  [
    `/${ID}/4k`,
    'There is no image "4k": the last part of the path is one of default, tv, desktop, tablet, mobile, avatar',
  ],
  ['/api/banner/!!!', '"!!!" is neither a channel ID ("UC" and 22 characters), nor an @handle, nor a user name.'],
  ['/c/%20', '" " can be neither a custom name nor a handle.'],
  ['/api/banner/nobody', 'There is no channel with the handle or user name "nobody".'],
  ['/channel/UCnobodyhasthisone000000', 'There is no channel with the ID "UCnobodyhasthisone000000".'],
  [`/api/banner/${ID}?type=tv&width=0`, '"0" is not a valid width. Valid: a whole number from 1 to 4096.'],
  [`/${ID}?type=tv&format=bmp`, '"bmp" is not a valid format.'],
  [`/@pennantsample/avatar?width=0`, '"0" is not a valid width. Valid: a whole number from 1 to 4096.'],
  // The first segments of endpoints are no names.
  ['/api', 'There is nothing at "/api". GET / lists the endpoints.'],
  ['/channel/', 'There is nothing at "/channel". GET / lists the endpoints.'],
  ['/api/search', 'The parameter "q" is missing. Valid: a text of 1 to 100 characters, or what names a channel'],
  [`/${ID}/avatar#top`, 'The path contains a "#": leave the fragment out.'],
  [`/./${ID}/../avatar`, 'The path contains a dot segment: write the path without it.'],
  // A malformed request
  ['/a%2Fb', 'none of them can be part of a name.'],
  ['/api/channel/https%3A%2F%2Fwww.youtube.com%2F%40pennantsample', 'none of them can be part of a name.'],
])('%s needs no more than %s', async (url, expected) => {
  const { detail } = await get(url);
  expect(detail).toContain(expected);
  expect(detail).not.toContain('Did you mean');
});

test('a detail has no control characters, and is short', async () => {
  for (const path of [
    '/%1b%5b2J%E2%80%AE/x/y',
    `/${'%F0%9D%92%B3'.repeat(600)}`,
    `/api/channel/${'%F0%9D%92%B3'.repeat(400)}?type=${'%00'.repeat(400)}`,
    `/api/banner/%E2%80%AE%0a`,
    `/${ID}?type=%0d%0aSet-Cookie:%20a`,
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
