import { describe, expect, onTestFinished, test } from 'vitest';
import { startTestApp, type TestApp } from '../helpers/app.ts';
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

describe('an image that is requested again', () => {
  test('is encoded again, smaller, 20 s after its first response, and has a new ETag', async () => {
    const dataDir = await createTemporaryDirectory();
    const service = await start({ dataDir });
    const first = await service.get(IMAGE);
    const firstEtag = String(first.headers.etag);
    for (let asked = 0; asked < 5; asked += 1) expect(await etagOf(service)).toBe(firstEtag);
    service.clock.advance(20_000);
    const etagLater = () => {
      service.clock.advance(1_000);
      return etagOf(service);
    };
    await expect.poll(etagLater, { interval: 200 }).not.toBe(firstEtag);

    const smaller = await service.get(IMAGE, { 'if-none-match': firstEtag });
    expect(smaller.status).toBe(200);
    expect(smaller.bytes.length).toBeLessThan(first.bytes.length);
    const [before, after] = [await decodeImage(first.bytes), await decodeImage(smaller.bytes)];
    expect([after.format, after.width, after.height]).toEqual(['avif', before.width, before.height]);
    const etag = String(smaller.headers.etag);
    expect((await service.get(IMAGE, { 'if-none-match': etag })).status).toBe(304);

    await service.app.close();
    const restarted = await start({ dataDir, clock: service.clock });
    expect(await etagOf(restarted)).toBe(etag);
  });

  test.each([
    '/UCPennantSample00000003A/avatar.avif?width=64',
    '/UCPennantSample00000003A/avatar.webp',
    '/UCPennantSample00000003A/avatar.jpeg?quality=50',
    '/UCPennantSample00000003A/mobile.png?width=300&height=100',
  ])('is encoded again in every format, size and quality: %s', async (url) => {
    const service = await start();
    const first = await service.get(url);
    service.clock.advance(20_000);
    const etagLater = async () => (await service.getLater(url)).headers.etag;
    await expect.poll(etagLater, { interval: 100 }).not.toBe(first.headers.etag);
    const second = await service.get(url);
    expect(second.bytes.length).toBeLessThan(first.bytes.length);
    const [before, after] = [await decodeImage(first.bytes), await decodeImage(second.bytes)];
    expect([after.format, after.width, after.height]).toEqual([before.format, before.width, before.height]);
  });

  test('is not encoded again when it is requested only once', async () => {
    const service = await start();
    await etagOf(service);
    service.clock.advance(120_000);
    await new Promise((resolve) => setImmediate(resolve));
    expect(service.app.encoderStats()).toMatchObject({ queued: 0, queuedInBackground: 0, running: 0 });
  });
});
