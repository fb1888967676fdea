import sharp from 'sharp';
import { describe, expect, onTestFinished, test } from 'vitest';
import { startTestApp, type TestApp } from '../helpers/app.ts';
import { catalogLine, importLines, writeImages } from '../helpers/catalog.ts';
import { numberedChannelId } from '../helpers/fake-source.ts';
import { decodeImage } from '../helpers/image.ts';
import { createTemporaryDirectory } from '../helpers/temporary-directory.ts';

const IMAGE = '/UCPennantSample00000003A/mobile.avif';

async function start(options: Parameters<typeof startTestApp>[0] = {}): Promise<TestApp> {
  const service = await startTestApp(options);
  onTestFinished(() => service.close());
  return service;
}

async function etagOf(service: TestApp): Promise<string> {
  return String((await service.get(IMAGE)).headers.etag);
}

describe('an image that is requested often', () => {
  test('is encoded again, smaller, after its third request and not within the first minute', async () => {
    const dataDir = await createTemporaryDirectory();
    const service = await start({ dataDir });
    const first = await service.get(IMAGE);
    const fastEtag = String(first.headers.etag);
    for (let asked = 0; asked < 5; asked += 1) expect(await etagOf(service)).toBe(fastEtag);
    service.clock.advance(60_000);
    const etagLater = () => {
      service.clock.advance(1_000);
      return etagOf(service);
    };
    await expect.poll(etagLater, { interval: 200 }).not.toBe(fastEtag);

    const optimized = await service.get(IMAGE);
    expect(optimized.bytes.length).toBeLessThan(first.bytes.length);
    const [before, after] = [await decodeImage(first.bytes), await decodeImage(optimized.bytes)];
    expect([after.format, after.width, after.height]).toEqual(['avif', before.width, before.height]);
    const confirmed = await service.get(IMAGE, { 'if-none-match': fastEtag });
    expect([confirmed.status, confirmed.headers.etag]).toEqual([200, optimized.headers.etag]);
    expect(optimized.headers.etag).not.toBe(fastEtag);

    await service.app.close();
    const restarted = await start({ dataDir, clock: service.clock });
    expect(await etagOf(restarted)).toBe(optimized.headers.etag);
  });

  test('is not encoded again when it is requested only twice', async () => {
    const service = await start();
    const fastEtag = await etagOf(service);
    service.clock.advance(120_000);
    expect(await etagOf(service)).toBe(fastEtag);
    await new Promise((resolve) => setImmediate(resolve));
    expect(service.app.encoderStats().queued + service.app.encoderStats().running).toBe(0);
  });
});

describe('an image that equals its original', () => {
  test('is sent byte for byte, unless the original contains more than pixels', async () => {
    const dataDir = await createTemporaryDirectory();
    const noise = { width: 300, height: 300, noise: { type: 'gaussian' as const, mean: 128, sigma: 40 } };
    const clean = await sharp({ create: { ...noise, channels: 3, background: 'red' } })
      .jpeg({ quality: 61 })
      .toBuffer();
    const tagged = await sharp(clean)
      .withExif({ IFD0: { Artist: 'somebody' } })
      .jpeg({ quality: 61 })
      .toBuffer();
    const images = await writeImages(dataDir, { 'clean.jpg': clean, 'tagged.jpg': tagged });
    const { refusals } = await importLines(
      dataDir,
      [catalogLine(1, { avatarFile: 'clean.jpg' }), catalogLine(2, { avatarFile: 'tagged.jpg' })],
      images,
    );
    expect(refusals).toEqual([]);
    const service = await start({ dataDir });
    const same = await service.get(`/${numberedChannelId(1)}/avatar.jpg`);
    expect(same.bytes.equals(clean)).toBe(true);
    expect((await service.get(`/${numberedChannelId(1)}/avatar.jpg?width=299`)).bytes.equals(clean)).toBe(false);
    expect((await service.get(`/${numberedChannelId(1)}/avatar.jpg?quality=61`)).bytes.equals(clean)).toBe(false);
    const stripped = await service.get(`/${numberedChannelId(2)}/avatar.jpg`);
    expect(stripped.bytes.includes('somebody')).toBe(false);
    expect((await sharp(stripped.bytes).metadata()).exif).toBeUndefined();
  });
});
