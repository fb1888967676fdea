import { describe, expect, test } from 'vitest';
import { describeFault, identify, isExact } from './identify.ts';

const ID = 'UCPennantSample00000001A';

describe('identify', () => {
  test.each([
    [ID, `/api/channel/${ID}`],
    ['@Łódź.tv', '/api/channel/%C5%81%C3%B3d%C5%BA.tv?type=handle'],
    ['pennantsample', '/api/channel/pennantsample?type=handle'],
    ['youtube.com/user/pennant', '/api/channel/pennant?type=username'],
    ['youtube.com/pennant', '/c/pennant'],
  ])('%j is the channel at %s', (text, path) => expect(identify(text)?.path).toBe(path));

  test.each(['', 'two words', '@', 'https://m.youtube.com/watch?v=x', 'x'.repeat(2_049)])('%j is no channel', (text) =>
    expect(identify(text)).toBeUndefined(),
  );

  test.each([
    ['youtube.com/shorts/abc', /video/],
    ['https://www.youtube.com/playlist?list=PL1', /playlist/],
    ['https://pennant.example/pennant', /not one of a channel/],
    ['@not a handle', /A handle has/],
    ['x'.repeat(2_049), /too long/],
  ])('says what is wrong with %j', (text, fault) => expect(describeFault(text)).toMatch(fault));

  test('searches for names only', () => {
    const exact = ['@pennantsample', ID, 'm.youtube.com/@pennantsample', 'https://youtu.be/x', 'pennant', 'two words'];
    expect(exact.map(isExact)).toEqual([true, true, true, true, false, false]);
  });
});
