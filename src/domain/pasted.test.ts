import { describe, expect, test } from 'vitest';
import { identifiersIn, identifiersOfName, readPasted } from './pasted.ts';

const ID = 'UCPennantSample00000001A';
const BARE = ID.slice(2);
const namesOf = (text: string) => identifiersIn(text).map(({ kind, key }) => `${kind} ${key}`);

describe('a pasted text', () => {
  test.each([
    ID,
    `  ${ID} `,
    BARE,
    `UU${BARE}`,
    `https://www.youtube.com/channel/${ID}`,
    `HTTP://WWW.YOUTUBE.COM/CHANNEL/${ID}/videos?view=0#top`,
    `studio.youtube.com/channel/${ID}/videos/upload`,
    `youtube.com/${ID}`,
    `https://www.youtube.com/feeds/videos.xml?channel_id=${ID}`,
    `https://www.youtube.com/playlist?list=UU${BARE}`,
    `https://www.youtube.com/embed/live_stream?channel=${ID}`,
  ])('%s names the channel with the ID', (text) => expect(namesOf(text)).toEqual([`id ${ID}`]));

  test.each([
    '@PennantSample',
    '＠PennantSample',
    '"@PennantSample"',
    '\u200e@PennantSample\u202c',
    '@PennantSample,',
    'youtube.com/@PennantSample.',
    '//www.youtube.com/@PennantSample',
    'm.youtube.com/@PennantSample/about',
    'youtube.com/channel/@PennantSample',
    '<https://music.youtube.com/@PennantSample>',
    '(https://www.youtube.com/@PennantSample)',
    'https://www.youtube.com/@PennantSample?si=x',
    'https://www.youtube.com/@PennantSample%E2%80%8B',
    'https://consent.youtube.com/m?continue=https%3A%2F%2Fwww.youtube.com%2F%40PennantSample&gl=DE',
    'https://www.google.com/url?q=https://www.youtube.com/@PennantSample&sa=D',
    'https://www.youtube.com/redirect?q=https%3A%2F%2Fwww.youtube.com%2F%40PennantSample',
  ])('%s names the channel with the handle', (text) => expect(namesOf(text)).toEqual(['handle pennantsample']));

  test.each([
    ['https://www.youtube.com/@h%C3%B6henkamm', ['handle höhenkamm']],
    ['@%E0%B8%97%E0%B8%94%E0%B8%AA', ['handle ทดส']],
    ['WWW.YouTube.com/USER/Pennant', ['username pennant']],
    ['youtube.com/c/Pennant', ['custom pennant', 'handle pennant', 'username pennant']],
    ['https://www.youtube.com/Pennant/videos', ['custom pennant', 'handle pennant', 'username pennant']],
    ['youtube.com/c/いまにゅの教室', ['custom いまにゅの教室', 'handle いまにゅの教室']],
    [`youtube.com/c/${'ж'.repeat(48)}`, [`custom ${'ж'.repeat(48)}`]],
  ])('%s names a channel', (text, names) => expect(namesOf(text)).toEqual(names));

  test.each([
    ['https://m.youtube.com/watch?v=dQw4w9WgXcQ', 'video'],
    ['youtube.com/shorts/abc', 'video'],
    ['https://youtu.be/dQw4w9WgXcQ', 'video'],
    ['https://www.youtube.com/playlist?list=PL1', 'playlist'],
    ['https://www.youtube.com/feed/explore', 'other page'],
    ['https://www.youtube.com/channel/UCtooShort', 'other page'],
    ['youtube.com/c/two%20words', 'other page'],
    ['youtube.com/@%zz', 'other page'],
    ['https://elsewhere.example/@pennantsample', 'other page'],
  ])('%s is another page', (text, page) => expect(readPasted(text)).toEqual({ names: page }));

  test.each(['', 'two words', 'pennantsample', '@', 'UCtooShort', 'https://', 'example.com/@x', 'x'.repeat(22)])(
    '"%s" is a search text',
    (text) => expect(readPasted(text)).toBeUndefined(),
  );

  test('has at most 2,048 characters', () => {
    expect(namesOf(`youtube.com/@x?${'x'.repeat(2_033)}`)).toEqual(['handle x']);
    expect(readPasted(`youtube.com/@x?${'x'.repeat(2_034)}`)).toBeUndefined();
  });
});

test('a bare name is a handle or a user name where only a channel is possible', () => {
  expect(identifiersOfName('Pennant').map(({ kind }) => kind)).toEqual(['handle', 'username']);
});
