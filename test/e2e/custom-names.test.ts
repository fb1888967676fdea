import { expect, test } from 'vitest';
import { AppError } from '../../src/domain/errors.ts';
import type { Identifier } from '../../src/domain/identifier.ts';
import { identifiersIn } from '../../src/domain/pasted.ts';
import type { ChannelSource } from '../../src/sources/source.ts';
import { recordPath } from '../../web/playground/own-address.ts';
import { startForTest, type TestApp, useTestApp } from '../helpers/app.ts';
import { createFakeEncoder } from '../helpers/fake-encoder.ts';
import { numberedChannelId, numberedSource, testChannel } from '../helpers/fake-source.ts';

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

/** The channels have 1, 2 and 3 subscribers. */
function sourceOfNames(unavailable?: string): ChannelSource {
  return {
    ...numberedSource(),
    async getChannel(channelId) {
      const subscriberCount = String([A, B, C].indexOf(channelId) + 1);
      const image = { kind: 'remote', key: channelId, urls: [] } as const;
      const channel = testChannel(channelId, { banner: image, avatar: image, links: [], subscriberCount });
      return { channel, isComplete: true, missing: [] };
    },
    async resolve({ kind, key }) {
      if (kind === unavailable) throw new AppError('upstream_unavailable', 'The source could not tell.');
      const channelId = CHANNELS[`${kind} ${key}`];
      if (channelId === undefined) throw new AppError('channel_not_found', 'There is no such channel.');
      return { channelId };
    },
  };
}

const app = useTestApp({
  sources: [sourceOfNames()],
  downloader: { download: async () => Buffer.from('original') },
  encoder: createFakeEncoder(),
});

/** The channel in a record, a search, the JSON or the image of a badge, or the name of an image's file. */
function channelIn({ headers, text }: Awaited<ReturnType<TestApp['get']>>): string | undefined {
  const [, subscribers = ''] = /"message":"(\d)"|<title>.*: (\d)</.exec(text)?.filter(Boolean) ?? [];
  return subscribers === ''
    ? /UC\w{22}/.exec(headers['content-disposition'] ?? text)?.[0]
    : [A, B, C][Number(subscribers) - 1];
}

const searchFor = (text: string) => `/api/search?q=${encodeURIComponent(text)}`;
const playground = (text: string) => recordPath(identifiersIn(text)[0] as Identifier);

test.each([
  ['a record', '/c/santicristo', A],
  ['a record', '/api/channel/santicristo?type=handle', B],
  ['a record', '/user/santicristo', C],
  ['a record', '/c/NoorGaming', A],
  ['a record', `/c/${encodeURIComponent('いまにゅの教室')}`, A],
  ['a record', `/c/${encodeURIComponent(CYRILLIC)}`, A],
  ['a record', '/c/onlyhandle', B],
  ['a record', '/c/onlyuser', C],
  ['a search', searchFor('youtube.com/santicristo'), A],
  ['a search', searchFor('https://www.youtube.com/c/santicristo/about'), A],
  ['a search', searchFor('(youtube.com/c/SantiCristo)'), A],
  ['the playground', playground('youtube.com/santicristo'), A],
  ['the playground', playground('<https://www.youtube.com/c/いまにゅの教室>'), A],
  // An image or a badge by a bare name: the handle, then the user name
  ['an image', '/api/banner/santicristo', B],
  ['an image', '/santicristo/avatar', B],
  ['an image', '/api/banner/onlyuser/tv', C],
  ['a badge', '/api/badge/santicristo', B],
  ['a badge', '/api/badge/santicristo.svg', B],
  ['a badge', '/youtube/channel/subscribers/onlyuser', C],
])('%s at %s is of the channel %s', async (_what, path, channelId) => {
  expect(channelIn(await app.get(path))).toBe(channelId);
});

test('a bare name of an image or a badge is no custom name', async () => {
  for (const path of ['/api/banner/noorgaming', '/api/badge/noorgaming']) {
    expect((await app.get(path)).status).toBe(404);
  }
});

test.each([
  ['custom', '/c/santicristo'],
  ['handle', '/santicristo/avatar'],
])('a name is read as one of the next kind only after a definite "no": %s', async (unavailable, url) => {
  const undecided = await startForTest({ sources: [sourceOfNames(unavailable)] });
  expect((await undecided.get(url)).status).toBe(503);
});
