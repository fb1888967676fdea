import type { RequestListener } from 'node:http';
import { expect, test } from 'vitest';
import { sharedEncoder } from '../helpers/encoder.ts';
import { respondWithBytes } from '../helpers/fake-upstream.ts';
import { decodeImage } from '../helpers/image.ts';
import { changeCache, DAMAGE_IMAGES, DELETE_IMAGES } from '../helpers/images.ts';
import { pngOf } from '../helpers/png.ts';
import { drawTestCard } from '../helpers/test-card.ts';
import { startYoutubeForTest } from '../helpers/youtube-service.ts';

const ID = 'UCreplayLighthouse000001';
const MIB = 1024 * 1024;

const encoder = sharedEncoder();

const OF_IMAGES = "WHERE row IN (SELECT row FROM rows WHERE share = 'images')";
const CARD = drawTestCard({ width: 400, height: 400 }).jpeg().toBuffer();

test.each<[what: string, bytes: Promise<Buffer>]>([
  ['64 megapixels', Promise.resolve(pngOf({ width: 8_000, height: 8_000 }))],
  ['damaged', CARD.then((bytes) => bytes.subarray(0, bytes.length / 2))],
  ['longer than 16 MiB', CARD.then((bytes) => Buffer.concat([bytes, Buffer.alloc(16 * MIB)]))],
])(
  'where an original is %s, the next size is tried once, and read again when it is no longer stored',
  async (_what, bytes) => {
    const [unusable, card] = [respondWithBytes(await bytes), respondWithBytes(await CARD)];
    const image: RequestListener = (request, response) =>
      (request.url?.endsWith('=s0') ? unusable : card)(request, response);
    const { service, replay } = await startYoutubeForTest({ image }, { encoder });
    expect((await service.get(`/${ID}/avatar.png`)).status).toBe(200);
    expect(replay.callsTo('image')).toHaveLength(2);
    changeCache(service.dataDir, DELETE_IMAGES);
    expect((await service.get(`/${ID}/avatar.png?width=100`)).status).toBe(200);

    replay.misbehave('image', unusable);
    replay.forgetCalls();
    expect((await service.get(`/${ID}/tv`)).status).toBe(502);
    expect(replay.callsTo('image')).toHaveLength(2);
  },
);

test.each<[what: string, sql: string]>([
  ['other bytes', DAMAGE_IMAGES],
  ['a text in place of bytes', `UPDATE contents SET content = 'a text' ${OF_IMAGES}`],
  ['no content', `DELETE FROM contents ${OF_IMAGES}`],
  ['another checksum', "UPDATE rows SET checksum = 9007199254740993 WHERE share = 'images'"],
])('an original with %s on the disk is loaded again, and its images are the same', async (_what, sql) => {
  const { service, replay } = await startYoutubeForTest({ image: respondWithBytes(await CARD) }, { encoder });
  const expected = await service.get(`/${ID}/avatar.png?width=200`);
  changeCache(service.dataDir, sql);
  replay.forgetCalls();
  expect((await service.get(`/${ID}/avatar.webp?width=200`)).status).toBe(200);
  expect(replay.callsTo('image')).toHaveLength(1);
  changeCache(service.dataDir, `${DELETE_IMAGES} AND is_original = 0`);
  const { status, bytes } = await service.get(`/${ID}/avatar.png?width=200&again`);
  expect([status, bytes.equals(expected.bytes)]).toEqual([200, true]);
});

test('an original that is downloaded again and has changed is an error once, and the new one afterwards', async () => {
  const { service, replay } = await startYoutubeForTest({ image: respondWithBytes(await CARD) }, { encoder });
  await service.get(`/${ID}/avatar.png`);
  changeCache(service.dataDir, DELETE_IMAGES);
  const changed = await drawTestCard({ width: 300, height: 300 }).jpeg().toBuffer();
  replay.misbehave('image', respondWithBytes(changed));
  expect((await service.get(`/${ID}/avatar.png?width=200`)).status).toBe(503);
  const { status, bytes } = await service.get(`/${ID}/avatar.png`);
  expect([status, (await decodeImage(bytes)).width]).toEqual([200, 300]);
});
