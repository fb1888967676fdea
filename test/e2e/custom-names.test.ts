import { expect, test } from 'vitest';
import { AppError } from '../../src/domain/errors.ts';
import type { ChannelSource } from '../../src/sources/source.ts';
import { startForTest } from '../helpers/app.ts';
import { numberedChannelId, numberedSource } from '../helpers/fake-source.ts';

const [A, B, C] = [numberedChannelId(1), numberedChannelId(2), numberedChannelId(3)];
const CYRILLIC = 'ж'.repeat(48);
/** `/c/santicristo`, `/@santicristo` and `/user/santicristo` are three channels. */
const CHANNELS: Readonly<Record<string, string>> = {
  'custom santicristo': A,
  'handle santicristo': B,
  'username santicristo': C,
  'custom noorgaming': A,
  'custom いまにゅの教室': A,
  [`custom ${CYRILLIC}`]: A,
  'handle onlyhandle': B,
  'username onlyuser': C,
};

function sourceOfNames(unavailable?: string): ChannelSource {
  return {
    ...numberedSource(),
    async resolve({ kind, key }) {
      if (kind === unavailable) throw new AppError('upstream_unavailable', 'The source could not tell.');
      const channelId = CHANNELS[`${kind} ${key}`];
      if (channelId === undefined) throw new AppError('channel_not_found', 'There is no such channel.');
      return { channelId };
    },
  };
}

test.each([
  ['/c/santicristo', A],
  ['/api/channel/santicristo?type=handle', B],
  ['/user/santicristo', C],
  ['/c/NoorGaming', A],
  [`/c/${encodeURIComponent('いまにゅの教室')}`, A],
  [`/c/${encodeURIComponent(CYRILLIC)}`, A],
  ['/c/onlyhandle', B],
  ['/c/onlyuser', C],
])('%s is the channel %s', async (path, channelId) => {
  const app = await startForTest({ sources: [sourceOfNames()] });
  expect((await app.get(path)).json()).toMatchObject({ channelId });
});

test.each(['youtube.com/santicristo', 'https://www.youtube.com/c/santicristo/about', '(youtube.com/c/SantiCristo)'])(
  'a search for %s finds the channel with the custom name first',
  async (text) => {
    const app = await startForTest({ sources: [sourceOfNames()] });
    const { results } = (await app.get(`/api/search?q=${encodeURIComponent(text)}`)).json<{ results: object[] }>();
    expect(results[0]).toMatchObject({ channelId: A });
  },
);

test('a bare name of an image or a badge is a handle', async () => {
  const app = await startForTest({ sources: [sourceOfNames()] });
  expect((await app.get('/api/badge/noorgaming')).status).toBe(404);
  expect((await app.get('/api/badge/santicristo')).status).toBe(200);
});

test('is not read as a handle while the source cannot tell', async () => {
  const app = await startForTest({ sources: [sourceOfNames('custom')] });
  expect((await app.get('/c/santicristo')).status).toBe(503);
});
