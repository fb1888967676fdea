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
    ['4.52 million subscribers', '4520000'],
    ['3.48 thousand subscribers', '3480'],
    ['1 subscriber', '1'],
    ['No subscribers', '0'],
  ])('reads "%s"', (text, count) => {
    expect(parseCount(text, 'subscriber')).toBe(count);
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
    '5,02 million subscribers',
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
    for (let hundredths = 100; hundredths < 100_000; hundredths += 1) {
      const text = `${(hundredths / 100).toFixed(2)}M subscribers`;
      expect(parseCount(text, 'subscriber')).toBe(String(hundredths * 10_000));
    }
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
    ['Joined 30 Sept 2024', '2024-09-30T00:00:00Z'],
    ['Joined September 30, 2024', '2024-09-30T00:00:00Z'],
    ['Joined Feb 29, 2012', '2012-02-29T00:00:00Z'],
  ])('reads "%s"', (text, date) => {
    expect(parseJoinedDate(text)).toBe(date);
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
