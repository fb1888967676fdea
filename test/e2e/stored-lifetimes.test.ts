import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { startTestApp } from '../helpers/app.ts';
import { createFakeEncoder } from '../helpers/fake-encoder.ts';
import { createHeldSource, HELD_CHANNEL_ID, HELD_HANDLE, numberedChannelId } from '../helpers/fake-source.ts';
import { createDataDir } from '../helpers/started-data-dir.ts';

const AVATAR = { kind: 'remote', key: 'https://yt3.ggpht.com/a', urls: ['https://yt3.ggpht.com/a=s0'] } as const;
const DAY_MS = 86_400_000;

test('each kind of value is stored for its own time', async () => {
  const dataDir = await createDataDir();
  const source = createHeldSource(AVATAR);
  const downloader = { download: async () => Buffer.from('the original') };
  const service = await startTestApp({ dataDir, sources: [source], downloader, encoder: createFakeEncoder() });
  const absent = numberedChannelId(7);
  for (const url of [
    `/channel/${HELD_CHANNEL_ID}`,
    `/api/channel/${HELD_HANDLE}?type=handle`,
    '/api/search?q=title',
    `/${HELD_CHANNEL_ID}/avatar.webp`,
    `/channel/${absent}`,
  ]) {
    await service.get(url);
  }
  await service.close();

  const db = new DatabaseSync(join(dataDir, 'cache.db'), { readOnly: true });
  const rows = db.prepare('SELECT key, expires_at_ms - stored_at_ms AS lifetimeMs FROM entries').all();
  db.close();
  const lifetimes = Object.fromEntries(rows.map(({ key, lifetimeMs }) => [key, lifetimeMs]));
  expect(lifetimes).toEqual({
    [`channel1:${HELD_CHANNEL_ID}`]: 7 * DAY_MS,
    [`channel1:${absent}`]: 60_000,
    [`name1:handle:${HELD_HANDLE}`]: 7 * DAY_MS,
    'search1:title': DAY_MS,
    [`original1:${HELD_CHANNEL_ID}:avatar`]: 7 * DAY_MS,
  });
});
