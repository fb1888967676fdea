import { readdirSync } from 'node:fs';
import { expect, test } from 'vitest';
import { startForTest, startTestApp } from '../helpers/app.ts';
import { createFakeEncoder } from '../helpers/fake-encoder.ts';
import { createHeldSource, HELD_CHANNEL_ID, HELD_HANDLE } from '../helpers/fake-source.ts';
import { createDataDir } from '../helpers/started-data-dir.ts';

const AVATAR = { kind: 'remote', key: 'https://yt3.ggpht.com/a', urls: ['https://yt3.ggpht.com/a=s0'] } as const;
const IMAGE = Buffer.alloc(2 ** 20, 'RIFFxxxxWEBP');
const URLS = [
  `/channel/${HELD_CHANNEL_ID}`,
  `/api/channel/${HELD_HANDLE}?type=handle`,
  '/api/search?q=title',
  `/${HELD_CHANNEL_ID}/avatar.webp`,
];

test('values served right before a stop are stored, and served again after the next start', async () => {
  const dataDir = await createDataDir();
  const encoder = createFakeEncoder({ encode: async () => IMAGE });
  const downloader = { download: async () => Buffer.from('the original') };
  const parts = { dataDir, encoder, downloader };
  const stopped = await startTestApp({ ...parts, sources: [createHeldSource(AVATAR)] });
  await Promise.all(URLS.map((url) => stopped.get(url)));
  await stopped.close();
  // At once, because the process ends.
  expect(readdirSync(dataDir).filter((name) => name.endsWith('-wal'))).toEqual([]);

  const source = createHeldSource(AVATAR);
  const restarted = await startForTest({ ...parts, clock: stopped.clock, sources: [source] });
  for (const url of URLS) {
    expect([url, (await restarted.get(url)).headers['cache-status']]).toEqual([
      url,
      expect.stringMatching(/^pennant; hit/),
    ]);
  }
});
