import { expect, onTestFinished, test } from 'vitest';
import { startTestApp } from '../helpers/app.ts';
import { createManualClock } from '../helpers/clock.ts';
import { createFakeEncoder } from '../helpers/fake-encoder.ts';
import { createHeldSource, HELD_CHANNEL_ID } from '../helpers/fake-source.ts';
import { createDataDir } from '../helpers/started-data-dir.ts';

const AVATAR = { kind: 'remote', key: 'https://yt3.ggpht.com/a', urls: ['https://yt3.ggpht.com/a=s0'] } as const;
const DAY_MS = 86_400_000;

test('`Last-Modified` of an image is when these bytes of its original were first stored, also after a restart', async () => {
  const dataDir = await createDataDir();
  const clock = createManualClock();
  let bytes = 'the original';
  const downloader = { download: async () => Buffer.from(bytes) };
  const sources = [createHeldSource(AVATAR)];
  const start = () => startTestApp({ dataDir, clock, sources, downloader, encoder: createFakeEncoder() });
  let service = await start();
  onTestFinished(() => service.close());
  const lastModifiedMs = async () => {
    const { headers } = await service.getLater(`/${HELD_CHANNEL_ID}/avatar.webp`);
    return Date.parse(String(headers['last-modified']));
  };

  const firstMs = await lastModifiedMs();
  expect(firstMs).toBe(clock.now());
  clock.advance(DAY_MS);
  // The same bytes are loaded again.
  expect(await lastModifiedMs()).toBe(firstMs);
  await service.close();
  service = await start();
  expect(await lastModifiedMs()).toBe(firstMs);

  bytes = 'another original';
  clock.advance(DAY_MS);
  expect(await lastModifiedMs()).toBe(clock.now());
});
