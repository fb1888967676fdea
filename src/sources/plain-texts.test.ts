import { expect, it } from 'vitest';
import { hit, ID, over, record } from '../../test/helpers/fake-source.ts';
import { identifierOfId } from '../domain/identifier.ts';

it('titles of every source are plain; an empty one becomes the channel ID, or the host of the link', async () => {
  const HOSTILE = '\u202eBell\r\nRock\0';
  const links = [
    { title: HOSTILE, url: 'https://a.example/page' },
    { title: '\n', url: 'https://b.example/page' },
  ];
  const channel = record({ title: HOSTILE, description: 'two\nlines', links });
  const sources = over([{ channel, hits: [hit(ID, HOSTILE), hit('UCother', '\u202e')] }]);
  const plain = {
    title: 'Bell Rock',
    description: 'two\nlines',
    links: [
      { title: 'Bell Rock', url: 'https://a.example/page' },
      { title: 'b.example', url: 'https://b.example/page' },
    ],
  };
  expect((await sources.getChannel(ID)).channel).toMatchObject(plain);
  expect((await sources.resolve(identifierOfId(ID))).loaded?.channel).toMatchObject(plain);
  expect(await sources.search('bell')).toMatchObject([{ title: 'Bell Rock' }, { title: 'UCother' }]);
});
