import sharp from 'sharp';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { answerStatus } from '../helpers/fake-upstream.ts';
import { decodePicture } from '../helpers/picture.ts';
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
  running = await startYoutubeService({ image: answerStatus(200, { 'content-type': 'image/webp' }, animation) });
});
afterAll(() => running.close());

describe('the avatar of a system channel whose original is an animated WebP', () => {
  it.each(['webp', 'avif', 'jpeg', 'png'])('is its first frame as %s', async (format) => {
    const answer = await running.service.get(`/UCreplayArcade0000000014/avatar?format=${format}`);
    expect([answer.status, answer.headers['content-type']]).toEqual([200, `image/${format}`]);
    const picture = await decodePicture(answer.bytes);
    expect([picture.format, picture.width, picture.height]).toEqual([format, 96, 96]);
    expect((await sharp(answer.bytes).metadata()).pages ?? 1).toBe(1);
    const [red, , blue] = picture.colourAt(0.5, 0.5);
    expect(red).toBeGreaterThan(150);
    expect(blue).toBeLessThan(80);
  });

  it('is in the record', async () => {
    const answer = await running.service.get('/api/channel/UCreplayArcade0000000014');
    expect(answer.json()).toMatchObject({ title: 'Arcade', avatarUrl: expect.stringContaining('UCreplayArcade') });
  });
});
