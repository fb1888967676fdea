import type { IncomingMessage, ServerResponse } from 'node:http';
import sharp from 'sharp';
import { beforeEach, expect, test } from 'vitest';
import type { TestApp } from '../helpers/app.ts';
import { sharedEncoder } from '../helpers/encoder.ts';
import { respondWithBytes, respondWithJson, respondWithStatus } from '../helpers/fake-upstream.ts';
import { changeCache, DELETE_ORIGINALS } from '../helpers/images.ts';
import { ownResponse } from '../helpers/replay-responses.ts';
import type { ReplayServer } from '../helpers/replay-server.ts';
import { startYoutubeForTest, type YoutubeService } from '../helpers/youtube-service.ts';

/* An image whose record has just got another one. */

const ID = 'UCreplayLighthouse000001';
const HOUR_MS = 3_600_000;
const A_DAY = 'public, max-age=86400';

const encoder = sharedEncoder();
let running: YoutubeService;
let service: TestApp;
let replay: ReplayServer;
beforeEach(async () => {
  const [red, blue] = await Promise.all(['red', 'blue'].map((background) => drawSquare(background)));
  const image = (request: IncomingMessage, response: ServerResponse) =>
    respondWithBytes((request.url?.includes('new-avatar') ? blue : red) as Buffer)(request, response);
  running = await startYoutubeForTest({ image }, { encoder });
  ({ service, replay } = running);
});

function drawSquare(background: string): Promise<Buffer> {
  return sharp({ create: { width: 64, height: 64, channels: 3, background } })
    .png()
    .toBuffer();
}

/** From its next load on, the record names another avatar. */
function replaceAvatar(): void {
  const page = JSON.stringify(ownResponse('browseId', ID)).replaceAll('lighthouse-avatar', 'new-avatar');
  replay.misbehave('browse', respondWithJson(JSON.parse(page)));
}

/** The path of the avatar in the record. */
async function avatarUrl(): Promise<string> {
  const { avatarUrl } = (await service.get(`/api/channel/${ID}`)).json<{ avatarUrl: string }>();
  return `${avatarUrl.replace('http://pennant.test', '')}&format=png`;
}

async function colourOf(image: Buffer): Promise<string> {
  const { dominant } = await sharp(image).stats();
  return dominant.r > dominant.b ? 'red' : 'blue';
}

async function read(url: string, headers: Record<string, string> = {}) {
  const { status, headers: fields, bytes } = await service.get(url, headers);
  const cacheStatus = fields['cache-status'];
  return { status, etag: String(fields.etag), cacheControl: fields['cache-control'], cacheStatus, bytes };
}

test('while the new image cannot be loaded, the former one is served, then the new one', async () => {
  const formerUrl = await avatarUrl();
  const former = await read(formerUrl);
  expect([await colourOf(former.bytes), former.cacheControl]).toEqual(['red', A_DAY]);

  service.clock.advance(HOUR_MS);
  replaceAvatar();
  replay.misbehave('image', respondWithStatus(503));
  const url = await avatarUrl();
  const fallbacks = [
    await read(url),
    await read(url),
    await read(url, { 'if-none-match': former.etag }),
    await read(`${url}&width=16`),
  ];
  expect(fallbacks.map(({ status }) => status)).toEqual([200, 200, 304, 200]);
  for (const { cacheControl, cacheStatus } of fallbacks) {
    expect(cacheControl).toBe(A_DAY);
    expect(cacheStatus).toMatch(/^pennant; hit; ttl=-\d+; detail="/);
  }
  expect(await colourOf(fallbacks[3]?.bytes as Buffer)).toBe('red');

  replay.behave();
  service.clock.advance(60_000);
  const current = await read(url, { 'if-none-match': former.etag });
  expect([current.status, current.cacheControl]).toEqual([200, A_DAY]);
  expect(await colourOf(current.bytes)).toBe('blue');
});

test('an image that is gone is loaded from the URL in the reloaded record', async () => {
  await service.get(`/api/channel/${ID}`);
  replaceAvatar();
  replay.misbehave('image', respondWithStatus(404), 2);
  const { status, bytes } = await read(`/${ID}/avatar.png`);
  expect([status, await colourOf(bytes)]).toEqual([200, 'blue']);
});

test('while an image is gone that is still in the record, other sizes are a 502, and stored ones go out for a week', async () => {
  const stored = `/${ID}/avatar.png?width=32`;
  await read(stored);
  changeCache(service.dataDir, DELETE_ORIGINALS);
  replay.misbehave('image', respondWithStatus(404));
  const statuses: number[] = [];
  for (let day = 0; day <= 7; day += 1) {
    const { status } = await read(`/${ID}/avatar.png?width=16`);
    statuses.push(status, (await read(stored)).status);
    service.clock.advance(24 * HOUR_MS);
  }
  // First, the record may name another image by now.
  const firstDays = [503, 200, 502, 200, 502, 200, 502, 200];
  expect(statuses).toEqual([...firstDays, 502, 200, 502, 200, 502, 200, 502, 502]);
});
