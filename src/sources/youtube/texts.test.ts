import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseCount, parseJoinedDate, textOf } from './texts.ts';

describe('parseCount', () => {
  it.each([
    ['4.52M subscribers', '4520000'],
    ['5.04m subscribers', '5040000'],
    ['1.13M subscribers', '1130000'],
    ['305k subscribers', '305000'],
    ['74.3m subscribers', '74300000'],
    ['1.2B subscribers', '1200000000'],
    ['1 subscriber', '1'],
    ['No subscribers', '0'],
  ])('reads "%s"', (text, count) => {
    expect(parseCount(text, 'subscriber')).toBe(count);
  });

  it.each([
    ['0 videos', '0'],
    ['No videos', '0'],
    ['1 video', '1'],
    ['2 videos', '2'],
    ['999 videos', '999'],
    ['1000 videos', '1000'],
    ['1,000 videos', '1000'],
    ['1K videos', '1000'],
    ['1k videos', '1000'],
    ['1.0K videos', '1000'],
    ['1.001K videos', '1001'],
    ['0.5K videos', '500'],
    ['999K videos', '999000'],
    ['999.9K videos', '999900'],
    ['999.999K videos', '999999'],
    ['999,999 videos', '999999'],
    ['1,000K videos', '1000000'],
    ['1M videos', '1000000'],
    ['1.0M videos', '1000000'],
    ['1.00m videos', '1000000'],
    ['999.999999M videos', '999999999'],
    ['1B videos', '1000000000'],
    ['9,999,999,999,999,999 videos', '9999999999999999'],
    ['9999999999999999 videos', '9999999999999999'],
  ])('reads "%s", which is at a boundary', (text, count) => {
    expect(parseCount(text, 'video')).toBe(count);
  });

  it.each([
    '1 videos and',
    '1.0001K videos',
    '1.0 videos',
    '1,0 videos',
    '1,00K videos',
    ',000 videos',
    '1, videos',
    '1. videos',
    '.5K videos',
    '-1 videos',
    '1e3 videos',
    'K videos',
    '1T videos',
    '1KK videos',
    '1 trillion videos',
    '01,000,000,000,000,000,000 videos',
    '10000000000000000 0 videos',
    '12345678901234567 videos',
  ])('returns nothing for "%s", which is beyond a boundary', (text) => {
    expect(parseCount(text, 'video')).toBeUndefined();
  });

  it('reads counts beyond 32 bits exactly', () => {
    expect(parseCount('312,530,935,570 views', 'view')).toBe('312530935570');
  });

  it.each([
    '20 Tr người đăng ký',
    '5,04 Mio. Abonnenten',
    '881 B abone',
    '1,2K subscribers',
    '5,02M subscribers',
    '4.52 million subscribers',
    '12 K subscribers',
    '12K subscriber',
    '2.530.935 subscribers',
    '1,23,456 subscribers',
    '4.52 constructor subscribers',
    '4constructor subscribers',
    '4.52M',
    'subscribers',
    '1.5 subscribers',
    '1.2345K subscribers',
    'more than 5 subscribers',
    'No K subscribers',
    '',
  ])('returns nothing for "%s"', (text) => {
    expect(parseCount(text, 'subscriber')).toBeUndefined();
  });

  it.each(['12 B video', '18 B video', '2 video', '1.234 videos', '1 234 videos', '12 mil videos', '1,2 M videos'])(
    'returns nothing for "%s", which another language shares with English',
    (text) => {
      expect(parseCount(text, 'video')).toBeUndefined();
    },
  );

  it('reads a count only with its own noun', () => {
    expect(parseCount('7.6K videos', 'subscriber')).toBeUndefined();
    expect(parseCount('7.6K videos', 'video')).toBe('7600');
  });

  it('reads any integer, with or without separators', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 10n ** 15n }), (count) => {
        expect(parseCount(`${count.toLocaleString('en-US')} views`, 'view')).toBe(String(count));
        expect(parseCount(`${count} views`, 'view')).toBe(String(count));
      }),
    );
  });

  it('shifts the decimal point of every three-digit number exactly', () => {
    const wrong: string[] = [];
    for (let hundredths = 100; hundredths < 100_000; hundredths += 1) {
      const text = `${(hundredths / 100).toFixed(2)}M subscribers`;
      if (parseCount(text, 'subscriber') !== String(hundredths * 10_000)) wrong.push(text);
    }
    expect(wrong).toEqual([]);
  });

  it('returns digits or nothing for any text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (text) => {
        expect(parseCount(`${text} views`, 'view') ?? '0').toMatch(/^(0|[1-9]\d*)$/);
      }),
    );
  });
});

describe('parseJoinedDate', () => {
  it.each([
    ['Joined Feb 1, 2015', '2015-02-01T00:00:00Z'],
    ['Joined 1 Feb 2015', '2015-02-01T00:00:00Z'],
    ['Joined on Feb 1, 2015', '2015-02-01T00:00:00Z'],
    ['Joined 30 Sept 2024', '2024-09-30T00:00:00Z'],
    ['Joined September 30, 2024', '2024-09-30T00:00:00Z'],
    ['Joined Feb 29, 2012', '2012-02-29T00:00:00Z'],
  ])('reads "%s"', (text, date) => {
    expect(parseJoinedDate(text)).toBe(date);
  });

  it('reads every month, abbreviated or not, in both orders', () => {
    for (let month = 0; month < 12; month += 1) {
      const date = new Date(Date.UTC(2020, month, 31 - Number([1, 3, 5, 8, 10].includes(month)) * 2));
      const [day, long] = [date.getUTCDate(), date.toLocaleDateString('en-US', { month: 'long', timeZone: 'UTC' })];
      for (const name of [long, long.slice(0, 3), `${long.slice(0, 3)}.`]) {
        const expected = `2020-${String(month + 1).padStart(2, '0')}-${day}T00:00:00Z`;
        expect(parseJoinedDate(`Joined ${name} ${day}, 2020`)).toBe(expected);
        expect(parseJoinedDate(`Joined ${day} ${name} 2020`)).toBe(expected);
      }
    }
  });

  it.each([
    'Joined Feb 0, 2015',
    'Joined Feb 1, 215',
    'Joined Feb 1, 2015 at noon',
    'Left Feb 1, 2015',
    'Joined Fob 1, 2015',
  ])('returns nothing for "%s"', (text) => {
    expect(parseJoinedDate(text)).toBeUndefined();
  });

  it.each(['Joined Feb 29, 2015', 'Joined 32 May 2015', 'Beigetreten: 01.02.2015', 'Joined 02/01/2015', 'Joined', ''])(
    'returns nothing for "%s"',
    (text) => {
      expect(parseJoinedDate(text)).toBeUndefined();
    },
  );
});

describe('textOf', () => {
  it.each([
    ['a string', 'x'],
    ['simple text', { simpleText: 'x' }],
    ['content', { content: 'x' }],
    ['runs', { runs: [{ text: 'x' }] }],
  ])('unwraps %s', (_wrapping, value) => {
    expect(textOf(value)).toBe('x');
  });

  it('joins runs and accepts an empty text', () => {
    expect(textOf({ runs: [{ text: '185' }, { text: ' videos' }] })).toBe('185 videos');
    expect(textOf({ simpleText: '' })).toBe('');
  });

  it.each([[undefined], [null], [1], [[]], [{}], [{ runs: [] }], [{ runs: [{ text: 1 }] }], [{ simpleText: 1 }]])(
    'finds no text in %j',
    (value) => {
      expect(textOf(value)).toBeUndefined();
    },
  );
});
