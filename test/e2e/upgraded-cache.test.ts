import { expect, test } from 'vitest';
import { createSqliteStore, databasePath } from '../../src/store/sqlite.ts';
import { startWithoutEncoder } from '../helpers/app.ts';
import { createManualClock } from '../helpers/clock.ts';
import { inCurrentEpoch } from '../helpers/current-epoch.ts';
import {
  createHeldSource,
  HELD_CHANNEL_ID,
  HELD_HANDLE,
  numberedChannelId,
  testChannel,
} from '../helpers/fake-source.ts';
import { createTemporaryDirectory } from '../helpers/temporary-directory.ts';

/* A `cache.db` of the version that also kept channels of the catalog. */

const HOUR_MS = 3_600_000;
const KEPT = numberedChannelId(1);

test('what was kept of the catalog is not used, and what was fetched is', async () => {
  const dataDir = await createTemporaryDirectory();
  const clock = createManualClock();
  const maxBytes = 2 ** 20;
  const file = { path: databasePath(dataDir), maxBytes, clock, onEvent: () => undefined };
  const store = inCurrentEpoch(createSqliteStore(file));
  const own = testChannel(HELD_CHANNEL_ID, { title: 'of the catalog' });
  const remote = { kind: 'remote', key: 'k', urls: ['https://yt3.ggpht.com/k'] } as const;
  const values: Record<string, unknown> = {
    [`channel1:${HELD_CHANNEL_ID}`]: { channel: own, isComplete: true },
    [`name1:handle:${HELD_HANDLE}`]: KEPT,
    'search1:title': { hits: [], next: {} },
    [`channel1:${KEPT}`]: { channel: testChannel(KEPT, { title: 'fetched', avatar: remote }), isComplete: true },
  };
  for (const [key, value] of Object.entries(values)) {
    const text = JSON.stringify({ value, freshMs: HOUR_MS });
    await store.set(key, { value: text, storedAtMs: clock.now() }, HOUR_MS);
  }
  await store.close();

  const app = await startWithoutEncoder({ dataDir, clock, sources: [createHeldSource()] });
  const titleOf = async (url: string) => (await app.get(url)).json<{ title: string }>().title;
  expect(await titleOf(`/channel/${HELD_CHANNEL_ID}`)).toBe('old title');
  expect(await titleOf(`/api/channel/${HELD_HANDLE}?type=handle`)).toBe('old title');
  expect((await app.get('/api/search?q=title')).json<{ results: object[] }>().results).toHaveLength(1);
  expect(await titleOf(`/channel/${KEPT}`)).toBe('fetched');
});
