import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import type { RequestListener } from 'node:http';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { NEVER_ABORTED } from '../../src/lib/deadlines.ts';
import { pngOf } from '../faults/bare-png.ts';
import { sharedEncoder } from '../helpers/encoder.ts';
import { respondWithBytes } from '../helpers/fake-upstream.ts';
import { decodeImage } from '../helpers/image.ts';
import { drawTestCard } from '../helpers/test-card.ts';
import { startYoutubeForTest } from '../helpers/youtube-service.ts';

const ID = 'UCreplayLighthouse000001';
const MIB = 1024 * 1024;

const encoder = sharedEncoder();

/** Changes one byte, so that the file can still be decoded. */
async function damage(path: string): Promise<void> {
  const bytes = await readFile(path);
  const middle = Math.floor(bytes.length / 2);
  bytes[middle] = (bytes[middle] as number) ^ 0x10;
  await writeFile(path, bytes);
}

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
    await rm(join(service.dataDir, 'originals'), { recursive: true });
    expect((await service.get(`/${ID}/avatar.png?width=100`)).status).toBe(200);

    replay.misbehave('image', unusable);
    replay.forgetCalls();
    expect((await service.get(`/${ID}/tv`)).status).toBe(502);
    expect(replay.callsTo('image')).toHaveLength(2);
  },
);

test('no image is made from the file of an original that has changed on the disk', async () => {
  const size = { width: 400, height: 400 };
  const bytes = await CARD;
  const { service } = await startYoutubeForTest({ image: respondWithBytes(bytes) }, { encoder });
  await service.get(`/${ID}/avatar`);
  const files = join(service.dataDir, 'originals');
  const [name = ''] = await readdir(files);
  await damage(join(files, name));

  const crop = { left: 0, top: 0, ...size };
  const job = {
    readOriginal: async () => bytes,
    originalSize: size,
    crop,
    output: size,
    format: 'png',
    quality: undefined,
  } as const;
  const expected = await encoder.encode(job, NEVER_ABORTED);
  const made = await service.get(`/${ID}/avatar.png`);
  expect(made.status).toBe(200);
  expect(made.bytes.equals(expected)).toBe(true);
});

test('an original that is downloaded again and has changed is an error once, and the new one afterwards', async () => {
  const { service, replay } = await startYoutubeForTest({ image: respondWithBytes(await CARD) }, { encoder });
  await service.get(`/${ID}/avatar.png`);
  await rm(join(service.dataDir, 'originals'), { recursive: true });
  const changed = await drawTestCard({ width: 300, height: 300 }).jpeg().toBuffer();
  replay.misbehave('image', respondWithBytes(changed));
  expect((await service.get(`/${ID}/avatar.png?width=200`)).status).toBe(503);
  const { status, bytes } = await service.get(`/${ID}/avatar.png`);
  expect([status, (await decodeImage(bytes)).width]).toEqual([200, 300]);
});
