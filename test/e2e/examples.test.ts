import { expect, test } from 'vitest';
import { startForTest } from '../helpers/app.ts';
import { catalogLine, writeCatalog } from '../helpers/catalog.ts';
import { createFakeEncoder } from '../helpers/fake-encoder.ts';
import { numberedChannelId } from '../helpers/fake-source.ts';
import { createDataDir } from '../helpers/started-data-dir.ts';

interface Index {
  readonly endpoints: readonly { readonly path: string; readonly example?: string }[];
}

/** The examples in the index, without the origin, and the channels that the playground shows first. */
async function start(env: Record<string, string>, lines?: readonly string[]) {
  const dataDir = await createDataDir();
  if (lines !== undefined) await writeCatalog(dataDir, lines);
  const service = await startForTest({ dataDir, env, encoder: createFakeEncoder() });
  const index = JSON.parse((await service.get('/')).text) as Index;
  const gallery = (await service.console('/playground/config.json')).json();
  return {
    service,
    paths: index.endpoints.flatMap(({ example }) =>
      example === undefined ? [] : [example.replace(/^http:\/\/[^/]+/, '')],
    ),
    channels: (gallery as { readonly channels: readonly { readonly channelId: string }[] }).channels.map(
      ({ channelId }) => channelId,
    ),
  };
}

test.each([
  ['the sample catalog', undefined, true],
  [
    'a catalog without images',
    [catalogLine(1, { title: 'Été à la mer', customUrl: '@été', subscriberCount: '5' }), catalogLine(2)],
    false,
  ],
])('every example of an instance with %s works', async (_what, lines, hasImages) => {
  const { service, paths } = await start({ SOURCES: 'catalog' }, lines);
  const types = new Set<string | undefined>();
  for (const path of paths) {
    const { status, headers, text } = await service.get(path);
    types.add(headers['content-type']);
    expect([path, status]).toEqual([path, 200]);
    if (path.startsWith('/api/search')) expect((JSON.parse(text) as { results: unknown[] }).results).not.toEqual([]);
  }
  expect([types.has('image/svg+xml'), types.has('image/jpeg')]).toEqual([true, hasImages]);
});

test.each([
  ['without channels of its own', { SOURCES: 'catalog' }],
  ['without a catalog', { SOURCES: 'youtube' }],
])('an instance %s shows no examples', async (_what, env) => {
  const { paths, channels } = await start(env, []);
  expect([paths, channels]).toEqual([[], []]);
});

test('the playground begins with channels that the instance has, and never with a blocked one', async () => {
  const lines = [1, 2].map((number) => catalogLine(number));
  const env = { SOURCES: 'catalog', BLOCKED_CHANNELS: numberedChannelId(1) };
  expect((await start(env, lines)).channels).toEqual([numberedChannelId(2)]);
});
