import { expect, test } from 'vitest';
import { startForTest } from '../helpers/app.ts';
import { catalogLine, importLines } from '../helpers/catalog.ts';
import { createFakeEncoder } from '../helpers/fake-encoder.ts';
import { numberedChannelId } from '../helpers/fake-source.ts';

interface Index {
  readonly endpoints: readonly { readonly path: string; readonly example?: string }[];
}

/** The examples in the index, without the origin, and the channels that the playground shows first. */
async function start(env: Record<string, string>, lines: readonly string[] = []) {
  const service = await startForTest({ env, encoder: createFakeEncoder() });
  if (lines.length > 0) await importLines(service.dataDir, lines);
  const index = JSON.parse((await service.get('/')).text) as Index;
  const gallery = (await service.console('/playground/channels.json')).json();
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
  ['the sample catalog', { SAMPLE_CATALOG: 'on' }, [], 9],
  [
    'a catalog of its own',
    { SAMPLE_CATALOG: 'off' },
    // Without images there is no example of one.
    [catalogLine(1, { title: 'Été à la mer', customUrl: '@été', subscriberCount: '5' }), catalogLine(2)],
    7,
  ],
])('every example of an instance with %s works', async (_what, env, lines, count) => {
  const { service, paths } = await start({ SOURCES: 'catalog', ...env }, lines);
  expect(paths).toHaveLength(count);
  for (const path of paths) {
    const { status, text } = await service.get(path);
    expect([path, status]).toEqual([path, 200]);
    if (path.startsWith('/api/search')) expect((JSON.parse(text) as { results: unknown[] }).results).not.toEqual([]);
  }
});

test.each([
  ['without channels of its own', { SOURCES: 'catalog', SAMPLE_CATALOG: 'off' }],
  ['without a catalog', { SOURCES: 'youtube' }],
])('an instance %s shows no examples', async (_what, env) => {
  const { paths, channels, endpoints } = await start(env);
  expect([paths, channels, endpoints]).toEqual([[], [], 9]);
});

test('the playground begins with channels that the instance has, and never with a blocked one', async () => {
  const lines = [1, 2].map((number) => catalogLine(number));
  const env = { SOURCES: 'catalog', SAMPLE_CATALOG: 'off', BLOCKED_CHANNELS: numberedChannelId(1) };
  expect((await start(env, lines)).channels).toEqual([numberedChannelId(2)]);
});
