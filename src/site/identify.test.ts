import { describe, expect, test } from 'vitest';
import { describeFault, identify, isExact } from './identify.ts';

const ID = 'UCPennantSample00000001A';
const BY_ID = `/api/channel/${ID}`;
const BY_HANDLE = '/api/channel/pennantsample?type=handle';

describe('identify', () => {
  test.each([
    [ID, BY_ID],
    [`  ${ID} `, BY_ID],
    ['@pennantsample', BY_HANDLE],
    ['pennantsample', '/c/pennantsample'],
    ['@Łódź.tv', '/api/channel/%C5%81%C3%B3d%C5%BA.tv?type=handle'],
    ['https://www.youtube.com/@pennantsample', BY_HANDLE],
    ['https://www.youtube.com/@pennantsample/videos?view=0', BY_HANDLE],
    ['https://m.youtube.com/@pennantsample', BY_HANDLE],
    ['m.youtube.com/@pennantsample', BY_HANDLE],
    ['music.youtube.com/@pennantsample', BY_HANDLE],
    ['youtube.com/@pennantsample', BY_HANDLE],
    [`http://www.youtube.com/channel/${ID}`, BY_ID],
    [`m.youtube.com/channel/${ID}/about`, BY_ID],
    [`youtube.com/CHANNEL/${ID}`, BY_ID],
    ['youtube.com/user/pennant', '/api/channel/pennant?type=username'],
    ['youtube.com/pennant', '/c/pennant'],
    ['https://www.youtube.com/pennant/videos', '/c/pennant'],
    ['youtube.com/c/Pennant%2DSample', '/c/Pennant-Sample'],
    [`youtube.com/${'x'.repeat(60)}`, `/c/${'x'.repeat(60)}`],
  ])('%j is the channel at %s', (text, path) => expect(identify(text)?.path).toBe(path));

  test.each([
    '',
    'two words',
    'youtube.com/c/two%20words',
    '@',
    `@${'x'.repeat(31)}`,
    'https://m.youtube.com/watch?v=x',
    'youtube.com/%zz',
    'x'.repeat(2_001),
    `youtube.com/@pennantsample?${'x'.repeat(2_000)}`,
  ])('%j is no channel', (text) => expect(identify(text)).toBeUndefined());

  test.each([
    ['https://m.youtube.com/watch?v=dQw4w9WgXcQ', /video/],
    ['youtube.com/shorts/abc', /video/],
    ['https://youtu.be/dQw4w9WgXcQ', /video/],
    ['https://www.youtube.com/playlist?list=PL1', /playlist/],
    ['https://www.youtube.com/feed/explore', /not one of a channel/],
    ['youtube.com/feed', /not one of a channel/],
    ['https://pennant.example/pennant', /not one of a channel/],
    ['@not a handle', /A handle has/],
    ['x'.repeat(2_001), /too long/],
  ])('says what is wrong with %j', (text, fault) => expect(describeFault(text)).toMatch(fault));

  test.each(['@pennantsample', 'two words', 'pennantsample'])('has nothing to say about %j', (text) =>
    expect(describeFault(text)).toBeUndefined(),
  );

  test('searches for names only', () => {
    const exact = ['@pennantsample', ID, 'm.youtube.com/@pennantsample', 'https://youtu.be/x', 'pennant', 'two words'];
    expect(exact.map(isExact)).toEqual([true, true, true, true, false, false]);
  });
});
