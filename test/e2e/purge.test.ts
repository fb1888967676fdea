import { beforeEach, expect, test } from 'vitest';
import { AppError } from '../../src/domain/errors.ts';
import { startForTest, startWithoutEncoder, type TestApp } from '../helpers/app.ts';
import { createFakeEncoder } from '../helpers/fake-encoder.ts';
import { createHeldSource, HELD_CHANNEL_ID, HELD_HANDLE, type HeldSource } from '../helpers/fake-source.ts';

const AVATAR = { kind: 'remote', key: 'https://yt3.ggpht.com/a', urls: ['https://yt3.ggpht.com/a=s0'] } as const;
const IMAGE = Buffer.concat([Buffer.from('RIFFxxxxWEBP'), Buffer.alloc(1_000, 7)]);
const FORMER_ID = 'UCformer_______________A';
const IMAGE_URL = `/${HELD_CHANNEL_ID}/avatar.avif`;

let source: HeldSource;
let app: TestApp;
/** What the image host has. */
let original: Buffer;
let isDecodable: boolean;

beforeEach(async () => {
  source = createHeldSource(AVATAR);
  original = IMAGE;
  isDecodable = true;
  app = await startForTest({
    sources: [source],
    downloader: { download: async () => original },
    encoder: createFakeEncoder({
      info: { width: 900, height: 900 },
      async encode() {
        if (!isDecodable) throw new AppError('upstream_invalid', 'It cannot be decoded.', { scope: 'key' });
        return IMAGE;
      },
    }),
  });
});

async function purge(channel: string = HELD_CHANNEL_ID): Promise<void> {
  expect((await app.purge(channel)).status).toBe(200);
}

const titleIn = (text: string) => /(?:old|new) title/.exec(text)?.[0];

test.each([
  ['a record', `/channel/${HELD_CHANNEL_ID}`],
  ['a record by its handle', `/api/channel/${HELD_HANDLE}?type=handle`],
  ['a search', '/api/search?q=title'],
])('the next request after a purge loads %s again, also within the second of the last response', async (_what, url) => {
  expect(titleIn((await app.get(url)).text)).toBe('old title');
  source.title = 'new title';
  expect(titleIn((await app.get(url)).text)).toBe('old title');
  await purge();
  expect(titleIn((await app.get(url)).text)).toBe('new title');
});

test.each([
  ['its handle', `@${HELD_HANDLE}`],
  ['its former ID', FORMER_ID],
  ['a page of it', `https://www.youtube.com/channel/${HELD_CHANNEL_ID}/about`],
])('a purge by %s removes the channel, and nothing of another one', async (_what, channel) => {
  const { getChannel } = source;
  source.getChannel = (channelId, options) =>
    getChannel(channelId === FORMER_ID ? HELD_CHANNEL_ID : channelId, options);
  const urls = [`/channel/${HELD_CHANNEL_ID}`, `/channel/${FORMER_ID}`];
  for (const url of urls) expect((await app.get(url)).status).toBe(200);
  expect((await app.get('/api/channel/nobody?type=handle')).status).toBe(404);
  source.title = 'new title';
  expect((await app.purge(channel)).json()).toMatchObject({ channelId: HELD_CHANNEL_ID });
  for (const url of urls) expect(titleIn((await app.getLater(url)).text)).toBe('new title');
  const other = await app.get('/api/channel/nobody?type=handle');
  expect([other.status, other.headers['cache-status']]).toEqual([404, expect.stringMatching(/^pennant; hit/)]);
});

test('the next request after a purge loads an image again, from the same URL', async () => {
  const { etag } = (await app.get(IMAGE_URL)).headers;
  original = Buffer.concat([IMAGE, Buffer.from('new')]);
  expect((await app.getLater(IMAGE_URL)).headers.etag).toBe(etag);
  const removed = (await app.purge(HELD_CHANNEL_ID)).json();
  // The record, its handle and the metadata of its original; the original and the image.
  expect(removed).toEqual({ channelId: HELD_CHANNEL_ID, entries: 5 });
  expect((await app.get(IMAGE_URL)).headers.etag).not.toBe(etag);
});

test('a purge forgets failures of the channel', async () => {
  isDecodable = false;
  expect((await app.get(IMAGE_URL)).status).toBe(502);
  isDecodable = true;
  expect((await app.get(IMAGE_URL)).status).toBe(502);
  await purge();
  expect((await app.get(IMAGE_URL)).status).toBe(200);
});

test('purging a name removes the stored absence of its channel', async () => {
  const url = '/api/channel/nobody?type=handle';
  expect((await app.get(url)).status).toBe(404);
  const found = createHeldSource();
  source.resolve = (identifier, options) => found.resolve({ ...identifier, key: HELD_HANDLE }, options);
  expect((await app.get(url)).status).toBe(404);
  await purge('@nobody');
  expect((await app.get(url)).status).toBe(200);
});

test('a purge by the handle of an own channel removes its images', async () => {
  const own = await startWithoutEncoder();
  const sample = 'UCPennantSample00000001A';
  expect((await own.get(`/${sample}/tv.webp`)).status).toBe(200);
  expect((await own.purge('@pennantsample')).json()).toEqual({ channelId: sample, entries: 2 });
});
