import { expect, test } from 'vitest';
import type { Encoder } from '../../src/images/encoder/encoder.ts';
import { startWithoutEncoder, type TestApp } from '../helpers/app.ts';
import { createFakeEncoder } from '../helpers/fake-encoder.ts';
import { respondWithJson } from '../helpers/fake-upstream.ts';
import { ownResponse } from '../helpers/replay-responses.ts';
import { startYoutubeForTest } from '../helpers/youtube-service.ts';

/* The fields by which shared caches, and not browsers, ask again for an image whose smaller encoding is still to come. */

const IMAGE = '/UCPennantSample00000001A/tv.avif';
const FIRST_BYTES = 1_000;
const A_DAY = 'public, max-age=86400';
const ASK_AGAIN = ['public, max-age=30', '30'];
const NOTHING = [undefined, undefined];

/** Encodes to a given number of bytes, in the background to another one. */
function encoderTo(backgroundBytes: () => number): Pick<Encoder, 'encode'> {
  return {
    encode: async (_job, { priority }) => Buffer.alloc(priority === 'background' ? backgroundBytes() : FIRST_BYTES),
  };
}

function startEncodingTo(backgroundBytes: number): Promise<TestApp> {
  return startWithoutEncoder({ encoder: createFakeEncoder(encoderTo(() => backgroundBytes)) });
}

type Fields = Readonly<Record<string, string | undefined>>;

function forSharedCaches({ headers }: { readonly headers: Fields }) {
  expect(headers['cache-control']).toBe(A_DAY);
  return [headers['cdn-cache-control'], headers['x-accel-expires']];
}

/** Makes the second encoding begin, and waits for its end. */
async function reEncode(service: TestApp, url = IMAGE): Promise<void> {
  service.clock.advance(20_000);
  expect(forSharedCaches(await service.get(url))).toEqual(ASK_AGAIN);
  await expect
    .poll(async () => (await service.getLater(url)).headers['x-accel-expires'], { interval: 20 })
    .toBeUndefined();
}

test('an image with only its first encoding has them in every form of its response, until the second one is stored', async () => {
  const service = await startEncodingTo(FIRST_BYTES / 2);
  const first = await service.get(IMAGE);
  const copy = { 'if-none-match': String(first.headers.etag) };
  expect(forSharedCaches(first)).toEqual(ASK_AGAIN);
  for (let asked = 0; asked < 2; asked += 1) {
    // The second time from the micro-cache.
    expect(forSharedCaches(await service.get(IMAGE))).toEqual(ASK_AGAIN);
    const head = await service.request({ method: 'HEAD', url: IMAGE });
    expect([head.status, ...forSharedCaches(head)]).toEqual([200, ...ASK_AGAIN]);
    const confirmed = await service.get(IMAGE, copy);
    expect([confirmed.status, ...forSharedCaches(confirmed)]).toEqual([304, ...ASK_AGAIN]);
  }

  await reEncode(service);
  const smaller = await service.get(IMAGE, copy);
  expect([smaller.status, smaller.bytes.length]).toEqual([200, FIRST_BYTES / 2]);
  expect(forSharedCaches(smaller)).toEqual(NOTHING);
  const confirmed = await service.get(IMAGE, { 'if-none-match': String(smaller.headers.etag) });
  expect([confirmed.status, ...forSharedCaches(confirmed)]).toEqual([304, ...NOTHING]);
});

test.each(['avif', 'webp', 'jpeg', 'png'])('an image of any size in %s has them', async (format) => {
  const service = await startEncodingTo(FIRST_BYTES / 2);
  for (const query of ['', '?width=100', '?quality=50', '?width=300&height=300&fit=contain']) {
    expect(forSharedCaches(await service.get(`/@pennantsample/avatar.${format}${query}`))).toEqual(ASK_AGAIN);
  }
});

test('an image whose second encoding was no smaller has none of them, and keeps its ETag', async () => {
  const service = await startEncodingTo(FIRST_BYTES);
  const { etag } = (await service.get(IMAGE)).headers;
  await reEncode(service);
  const confirmed = await service.get(IMAGE, { 'if-none-match': String(etag) });
  expect([confirmed.status, ...forSharedCaches(confirmed)]).toEqual([304, ...NOTHING]);
});

test('an image that is older than its record has none of them', async () => {
  const id = 'UCreplayLighthouse000001';
  const { service, replay } = await startYoutubeForTest({}, { encoder: createFakeEncoder() });
  const url = `/${id}/avatar.png`;
  expect(forSharedCaches(await service.get(url))).toEqual(ASK_AGAIN);
  const page = JSON.stringify(ownResponse('browseId', id)).replaceAll('lighthouse-avatar', 'new-avatar');
  replay.misbehave('browse', respondWithJson(JSON.parse(page)));
  replay.misbehave('image', respondWithJson({}, 503));
  service.clock.advance(3_600_000);
  // The record is refreshed, and names the new image.
  await service.get(`/channel/${id}`);
  const { headers } = await service.get(url);
  expect(headers['cache-control']).toBe('public, max-age=60');
  expect([headers['cdn-cache-control'], headers['x-accel-expires']]).toEqual(NOTHING);
});

test('no error and no JSON has them', async () => {
  const service = await startEncodingTo(FIRST_BYTES / 2);
  for (const url of [
    '/@pennantsample/tv?width=0',
    '/UCPennantSample00000002A/tv',
    '/channel/UCPennantSample00000001A',
  ]) {
    const { headers } = await service.get(url);
    expect([url, headers['cdn-cache-control'], headers['x-accel-expires']]).toEqual([url, ...NOTHING]);
  }
});
