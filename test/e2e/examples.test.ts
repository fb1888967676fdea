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
    endpoints: index.endpoints.length,
    channels: (gallery as { readonly channels: readonly { readonly channelId: string }[] }).channels.map(
      ({ channelId }) => channelId,
    ),
  };
}

test.each([
  ['the sample catalog', undefined, 10],
  [
    'a catalog of its own',
    // Without images there is no example of one.
    [catalogLine(1, { title: 'Été à la mer', customUrl: '@été', subscriberCount: '5' }), catalogLine(2)],
    8,
  ],
])('every example of an instance with %s works', async (_what, lines, count) => {
  const { service, paths } = await start({ SOURCES: 'catalog' }, lines);
  expect(paths).toHaveLength(count);
  for (const path of paths) {
    const { status, text } = await service.get(path);
    expect([path, status]).toEqual([path, 200]);
    if (path.startsWith('/api/search')) expect((JSON.parse(text) as { results: unknown[] }).results).not.toEqual([]);
  }
});

test.each([
  ['without channels of its own', { SOURCES: 'catalog' }],
  ['without a catalog', { SOURCES: 'youtube' }],
])('an instance %s shows no examples', async (_what, env) => {
  const { paths, channels, endpoints } = await start(env, []);
  expect([paths, channels, endpoints]).toEqual([[], [], 14]);
});

test('the playground begins with channels that the instance has, and never with a blocked one', async () => {
  const lines = [1, 2].map((number) => catalogLine(number));
  const env = { SOURCES: 'catalog', BLOCKED_CHANNELS: numberedChannelId(1) };
  expect((await start(env, lines)).channels).toEqual([numberedChannelId(2)]);
});
