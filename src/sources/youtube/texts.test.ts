import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseCount, parseJoinedDate, textOf } from './texts.ts';

describe('parseCount', () => {
  it.each([
    ['No videos', '0'],
    ['1 video', '1'],
    ['1k videos', '1000'],
    ['1.001K videos', '1001'],
    ['0.5K videos', '500'],
    ['999.9K videos', '999900'],
    ['1,000K videos', '1000000'],
    ['1.00m videos', '1000000'],
    ['999.999999M videos', '999999999'],
    ['1.2B videos', '1200000000'],
    ['9,999,999,999,999,999 videos', '9999999999999999'],
  ])('reads "%s"', (text, count) => {
    expect(parseCount(text, 'video')).toBe(count);
  });

  it.each([
    '',
    'videos',
    '5.02M',
    '1 videos and',
    'more than 5 videos',
    '1.0001K videos',
    '1.5 videos',
    '1,0 videos',
    '1,00K videos',
    '1,23,456 videos',
    ',000 videos',
    '.5K videos',
    '-1 videos',
    '1e3 videos',
    'No K videos',
    '1T videos',
    '1KK videos',
    '4.52 million videos',
    '4constructor videos',
    '12 K videos',
    '12K video',
    '12345678901234567 videos',
    // Another language shares the noun with English.
    '12 B video',
    '1.234 videos',
    '1 234 videos',
    '1,2 M videos',
    '5,04 Mio. Abonnenten',
    '7.6K subscribers',
  ])('returns nothing for "%s"', (text) => {
    expect(parseCount(text, 'video')).toBeUndefined();
  });

  it('reads any integer, with or without separators', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 10n ** 15n }), (count) => {
        expect(parseCount(`${count.toLocaleString('en-US')} views`, 'view')).toBe(String(count));
        expect(parseCount(`${count} views`, 'view')).toBe(String(count));
      }),
    );
  });
});

describe('parseJoinedDate', () => {
  it('reads every month, abbreviated or not, in both orders', () => {
    for (let month = 0; month < 12; month += 1) {
      const date = new Date(Date.UTC(2020, month, 31 - Number([1, 3, 5, 8, 10].includes(month)) * 2));
      const [day, long] = [date.getUTCDate(), date.toLocaleDateString('en-US', { month: 'long', timeZone: 'UTC' })];
      for (const name of [long, long.slice(0, 3), `${long.slice(0, 3)}.`]) {
        const expected = `2020-${String(month + 1).padStart(2, '0')}-${day}T00:00:00Z`;
        expect(parseJoinedDate(`Joined ${name} ${day}, 2020`)).toBe(expected);
        expect(parseJoinedDate(`Joined on ${day} ${name} 2020`)).toBe(expected);
      }
    }
    expect(parseJoinedDate('Joined 30 Sept 2024')).toBe('2024-09-30T00:00:00Z');
  });

  it.each([
    'Joined',
    'Joined Feb 0, 2015',
    'Joined Feb 29, 2015',
    'Joined Feb 1, 215',
    'Joined Feb 1, 2015 at noon',
    'Left Feb 1, 2015',
    'Joined Fob 1, 2015',
    'Joined 02/01/2015',
    'Beigetreten: 01.02.2015',
  ])('returns nothing for "%s"', (text) => {
    expect(parseJoinedDate(text)).toBeUndefined();
  });
});

it.each([
  ['x', 'x'],
  [{ simpleText: '' }, ''],
  [{ content: 'x' }, 'x'],
  [{ runs: [{ text: '185' }, { text: ' videos' }] }, '185 videos'],
  [null, undefined],
  [[], undefined],
  [{ runs: [] }, undefined],
  [{ runs: [{ text: 1 }] }, undefined],
  [{ simpleText: 1 }, undefined],
])('the text of %j is %j', (value, text) => {
  expect(textOf(value)).toBe(text);
});
