import sharp from 'sharp';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { respondWithStatus } from '../helpers/fake-upstream.ts';
import { decodeImage } from '../helpers/image.ts';
import { startYoutubeService, type YoutubeService } from '../helpers/youtube-service.ts';

const SIZE = { width: 96, height: 96, channels: 3 as const };
const COLOURS = { red: { r: 200, g: 20, b: 20 }, blue: { r: 20, g: 20, b: 200 } };

const frame = (colour: keyof typeof COLOURS) =>
  sharp({ create: { ...SIZE, background: COLOURS[colour] } })
    .png()
    .toBuffer();

let running: YoutubeService;

beforeAll(async () => {
  const frames = [await frame('red'), await frame('blue')];
  const animation = await sharp(frames, { join: { animated: true } })
    .webp({ loop: 0, delay: [100, 100], lossless: true })
    .toBuffer();
  expect((await sharp(animation).metadata()).pages).toBe(2);
  running = await startYoutubeService({ image: respondWithStatus(200, { 'content-type': 'image/webp' }, animation) });
});
afterAll(() => running.close());

describe('the avatar of a system channel whose original is an animated WebP', () => {
  it.each(['webp', 'avif', 'jpeg', 'png'])('is its first frame as %s', async (format) => {
    const response = await running.service.get(`/UCreplayArcade0000000014/avatar?format=${format}`);
    expect([response.status, response.headers['content-type']]).toEqual([200, `image/${format}`]);
    const image = await decodeImage(response.bytes);
    expect([image.format, image.width, image.height]).toEqual([format, 96, 96]);
    expect((await sharp(response.bytes).metadata()).pages ?? 1).toBe(1);
    const [red, , blue] = image.colourAt(0.5, 0.5);
    expect(red).toBeGreaterThan(150);
    expect(blue).toBeLessThan(80);
  });

  it('is in the record', async () => {
    const response = await running.service.get('/api/channel/UCreplayArcade0000000014');
    expect(response.json()).toMatchObject({ title: 'Arcade', avatarUrl: expect.stringContaining('UCreplayArcade') });
  });
});
