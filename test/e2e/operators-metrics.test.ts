import { expect, test } from 'vitest';
import { cachePath } from '../../src/cache/cache-file.ts';
import { channelKey, originalKey, searchKey } from '../../src/cache/keys.ts';
import type { ChannelSource } from '../../src/sources/source.ts';
import { startWithoutEncoder } from '../helpers/app.ts';
import { createManualClock } from '../helpers/clock.ts';
import { openEntries } from '../helpers/entries.ts';
import { numberedChannelId, numberedSource } from '../helpers/fake-source.ts';
import { fetchedSamples } from '../helpers/fetched-samples.ts';
import { createDataDir } from '../helpers/started-data-dir.ts';

const SAMPLE = 'UCPennantSample00000001A';

test('metrics have durations in seconds', async () => {
  const clock = createManualClock();
  const source = numberedSource();
  const slow: ChannelSource = {
    ...source,
    getChannel(channelId, options) {
      clock.advance(2_000);
      return source.getChannel(channelId, options);
    },
  };
  const service = await startWithoutEncoder({ clock, sources: [slow] });
  await service.get(`/channel/${numberedChannelId(1)}`);
  const call = 'pennant_source_call_duration_seconds_sum{source="numbered",operation="getChannel"}';
  expect(await service.metric(call)).toBe(2);
  expect(await service.metric('pennant_http_request_duration_seconds_sum{route="/channel/:identifier"}')).toBe(2);
});

test('a damaged stored value is counted by its kind, and loaded again', async () => {
  const dataDir = await createDataDir();
  const clock = createManualClock();
  const { table: store } = openEntries(cachePath(dataDir), { clock });
  for (const key of [channelKey(SAMPLE), originalKey(SAMPLE, 'banner'), searchKey('crops')]) {
    await store.set(key, 'damaged', 60_000);
  }
  await store.close();
  const service = await startWithoutEncoder({ dataDir, clock, ...fetchedSamples() });
  for (const url of [`/channel/${SAMPLE}`, `/${SAMPLE}/tv.webp`, '/api/search?q=crops']) {
    expect([url, (await service.get(url)).status]).toEqual([url, 200]);
  }
  const refused = (kind: string) => service.metric(`pennant_stored_values_refused_total{kind="${kind}"}`);
  expect(await Promise.all(['channel', 'original', 'search', 'name'].map(refused))).toEqual([1, 1, 1, 0]);
});
