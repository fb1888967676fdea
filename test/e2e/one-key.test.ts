import type { RequestListener } from 'node:http';
import { beforeEach, describe, expect, it } from 'vitest';
import { AppError } from '../../src/domain/errors.ts';
import { createFakeEncoder } from '../helpers/fake-encoder.ts';
import { respondWithBytes, respondWithJson, respondWithStatus } from '../helpers/fake-upstream.ts';
import { drawTestCard } from '../helpers/test-card.ts';
import { startYoutubeForTest, type YoutubeService } from '../helpers/youtube-service.ts';

const LIGHTHOUSE = 'UCreplayLighthouse000001';
const HARBOUR = 'UCreplayHarbour000000002';
/** "This channel is not available in your country." */
const REFUSED = 'UCreplayRegional00000011';
const KEY_FAILURE_MS = 15_000;
/** Many more than it takes to pause a source. */
const REQUESTS = 40;

const image = await drawTestCard({ width: 320, height: 180 }).png().toBuffer();
const CUT_BYTES = 60;
/** An encoder that cannot decode the truncated image. */
const encoder = createFakeEncoder({
  async inspect(readOriginal) {
    const { length } = await readOriginal();
    if (length > CUT_BYTES) return createFakeEncoder().inspect(readOriginal);
    throw new AppError('upstream_invalid', 'The original image cannot be decoded.');
  },
});

let running: YoutubeService;
beforeEach(async () => {
  running = await startYoutubeForTest({}, { encoder });
});

/** Repeats the same request, a quarter of a second apart. */
async function hammer(url: string): Promise<void> {
  for (let request = 0; request < REQUESTS; request += 1) {
    const { status } = await running.service.get(url);
    expect(status).toBeGreaterThanOrEqual(502);
    running.service.clock.advance(250);
  }
}

async function conditions(): Promise<readonly object[]> {
  return (await running.service.readiness()).conditions;
}

/** Responds to requests for the lighthouse's banner with `listener`, and to those for all other images as usual. */
function misbehaveForBanner(listener: RequestListener): void {
  running.replay.misbehave('image', (request, response) => {
    const isMeant = request.url?.includes('lighthouse-banner') === true;
    const reply = isMeant ? listener : respondWithBytes(image, { 'content-type': 'image/png' });
    reply(request, response);
  });
}

describe('one channel that the page refuses', () => {
  it('is requested once in 15 s, and Retry-After has the remaining time', async () => {
    const { service, replay } = running;
    const first = await service.get(`/api/channel/${REFUSED}`);
    expect([first.status, first.json().code, first.headers['retry-after']]).toEqual([
      503,
      'upstream_unavailable',
      '15',
    ]);
    replay.forgetCalls();
    service.clock.advance(12_000);
    const again = await service.get(`/api/channel/${REFUSED}`);
    expect([again.status, again.json().detail, again.headers['retry-after']]).toEqual([503, first.json().detail, '3']);
    expect(replay.calls).toEqual([]);
    service.clock.advance(3_000);
    await service.get(`/api/channel/${REFUSED}`);
    expect(replay.callsTo('browse')).toHaveLength(1);
  });
});

it.each([
  ['a handle', '/api/channel/circle?type=handle', 'resolve'],
  ['a search', '/api/search?q=light', 'search'],
] as const)('%s with an unreadable reply is requested once in 15 s', async (_what, url, route) => {
  running.replay.misbehave('search', respondWithJson({ contents: {} }));
  await hammer(url);
  const calls = running.replay.callsTo(route).length;
  expect(calls).toBeLessThanOrEqual(4);
  running.service.clock.advance(KEY_FAILURE_MS);
  await running.service.get(url);
  expect(running.replay.callsTo(route)).toHaveLength(2 * calls);
  expect(await conditions()).toEqual([]);
});

describe('one image', () => {
  it.each([
    ['refused with 403', respondWithStatus(403)],
    ['gone', respondWithStatus(404)],
    ['not an image', respondWithBytes(Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"></svg>'))],
    ['truncated', respondWithBytes(image.subarray(0, CUT_BYTES), { 'content-type': 'image/png' })],
  ])('that is %s is downloaded once in 15 s, and other images are downloaded', async (_what, listener) => {
    const { service, replay } = running;
    misbehaveForBanner(listener);
    await service.get(`/${LIGHTHOUSE}/tv`);
    const calls = { images: replay.callsTo('image').length, pages: replay.callsTo('browse').length };
    await hammer(`/${LIGHTHOUSE}/tv`);
    expect({ images: replay.callsTo('image').length, pages: replay.callsTo('browse').length }).toEqual(calls);
    expect((await service.get(`/${LIGHTHOUSE}/avatar`)).status).toBe(200);
    expect((await service.get(`/${HARBOUR}/tv`)).status).toBe(200);
    expect(await conditions()).toEqual([]);

    replay.behave();
    service.clock.advance(KEY_FAILURE_MS);
    expect((await service.get(`/${LIGHTHOUSE}/tv`)).status).toBe(200);
  });
});
