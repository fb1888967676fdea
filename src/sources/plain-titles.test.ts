import { expect, it } from 'vitest';
import { createStub, hit, ID, over, record } from '../../test/helpers/fake-source.ts';
import { channelIdRef } from '../domain/identifier.ts';

const HOSTILE = '\u202eBell\r\nRock\0';
const links = [
  { title: HOSTILE, url: 'https://a.example/page' },
  { title: '\n', url: 'https://b.example/page' },
];
const channel = record({ title: HOSTILE, description: 'two\nlines', links });
const PLAIN = {
  title: 'Bell Rock',
  description: 'two\nlines',
  links: [
    { title: 'Bell Rock', url: 'https://a.example/page' },
    { title: 'b.example', url: 'https://b.example/page' },
  ],
};

it.each(['catalog', 'youtube', 'youtube-data-api'])('every title of %s is plain', async (name) => {
  const sources = over([createStub({ name, channel, hits: [hit(ID, HOSTILE)] })]);
  expect((await sources.getChannel(ID)).channel).toMatchObject(PLAIN);
  expect((await sources.resolve(channelIdRef(ID))).loaded?.channel).toMatchObject(PLAIN);
  expect((await sources.search('bell', 5)).hits).toMatchObject([{ title: 'Bell Rock' }]);
});

it('a title that is empty in plain form becomes the channel ID', async () => {
  const sources = over([createStub({ channel: record({ title: '\0' }), hits: [hit(ID, '\u202e')] })]);
  expect((await sources.getChannel(ID)).channel.title).toBe(ID);
  expect((await sources.search('bell', 5)).hits).toMatchObject([{ title: ID }]);
});
