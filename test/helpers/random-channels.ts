import fc from 'fast-check';
import type { Channel } from '../../src/domain/channel.ts';

/* Random channels in upstream's words. */

/** The number of videos in headers is rounded above 999. */
export type CarriedField = keyof Channel | 'roundedVideoCount';

/** What upstream shows, and what it means. */
export interface Told {
  readonly shown: unknown;
  readonly value: unknown;
}

export type Truth = Readonly<Record<CarriedField, Told>>;

export interface Link {
  readonly title: string;
  readonly url: string;
}

const asItIs = (values: fc.Arbitrary<unknown>) => values.map((value) => ({ shown: value, value }));
const base64url = (length: number) => fc.stringMatching(new RegExp(`^[\\w-]{${length}}$`));
const words = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 40 });

const handle = fc
  .string({ unit: fc.constantFrom(...'abzABZ019_-.·éöñжяนท日本'), maxLength: 20 })
  .map((rest) => `@a${rest}`.normalize('NFC'));

const exactly = (value: number) => ({
  text: value === 0 ? 'No' : value.toLocaleString('en-US'),
  value: String(value),
});

/** 0 … 999, or three digits and a suffix, in either of upstream's English spellings. */
const roundedCount = fc.oneof(
  fc.integer({ min: 0, max: 999 }).map(exactly),
  fc
    .tuple(
      fc.integer({ min: 100, max: 999 }),
      fc.nat({ max: 2 }),
      fc.constantFrom<[string, number]>(['K', 3], ['k', 3], ['M', 6], ['m', 6], ['B', 9]),
    )
    .map(([digits, decimals, [letter, zeros]]) => ({
      text: `${(digits / 10 ** decimals).toFixed(decimals)}${letter}`,
      value: `${digits}${'0'.repeat(zeros - decimals)}`,
    })),
);
const exactCount = fc.oneof(fc.constantFrom(0, 1), fc.integer({ min: 0, max: 3e11 })).map(exactly);
const counted = (counts: typeof roundedCount, noun: string) =>
  counts.map(({ text, value }) => ({ shown: `${text} ${noun}${value === '1' ? '' : 's'}`, value }));

const joined = fc
  .tuple(fc.date({ min: new Date('2005-02-14'), max: new Date('2026-11-20'), noInvalidDate: true }), fc.boolean())
  .map(([day, isDayFirst]) => {
    const month = day.toLocaleString('en-US', { month: 'short', timeZone: 'UTC' });
    const [date, year] = [day.getUTCDate(), day.getUTCFullYear()];
    const text = isDayFirst ? `${date} ${month === 'Sep' ? 'Sept' : month} ${year}` : `${month} ${date}, ${year}`;
    return { shown: `Joined ${text}`, value: `${day.toISOString().slice(0, 10)}T00:00:00Z` };
  });

const countries = fc.constantFrom(
  ['United Kingdom', 'GB'],
  ['Australia', 'AU'],
  ['Türkiye', 'TR'],
  ['Turkey', 'TR'],
  ['Hong Kong', 'HK'],
  ['Côte d’Ivoire', 'CI'],
  ['Bosnia & Herzegovina', 'BA'],
  ['South Korea', 'KR'],
);

const REDIRECT = 'https://www.youtube.com/redirect?event=channel_description&redir_token=x&q=';
const links = fc
  .array(
    fc.record({
      title: words.map((text) => text.trim()).filter((text) => text !== ''),
      url: fc.webUrl({ validSchemes: ['http', 'https'], withQueryParameters: true }),
      isWrapped: fc.boolean(),
    }),
    { maxLength: 4 },
  )
  .map((all) => ({
    shown: all.map(({ title, url, isWrapped }) => ({
      title,
      url: isWrapped ? REDIRECT + encodeURIComponent(url) : url,
    })),
    value: all.map(({ title, url }) => ({ title, url: new URL(url).href })),
  }));

const picture = fc
  .tuple(fc.constantFrom('yt3.googleusercontent.com/', 'yt3.ggpht.com/', 'yt3.ggpht.com/ytc/'), base64url(40))
  .map(([place, name]) => `https://${place}${name}`);

export const truths: fc.Arbitrary<Truth> = fc.record({
  channelId: asItIs(base64url(22).map((rest) => `UC${rest}`)),
  title: asItIs(words.filter((text) => text.trim() !== '')),
  description: asItIs(fc.string({ unit: 'grapheme', maxLength: 80 })),
  customUrl: asItIs(handle),
  publishedAt: joined,
  country: countries.map(([shown, value]) => ({ shown, value })),
  subscriberCount: counted(roundedCount, 'subscriber'),
  viewCount: counted(exactCount, 'view'),
  videoCount: counted(exactCount, 'video'),
  roundedVideoCount: counted(roundedCount, 'video'),
  links,
  banner: asItIs(picture),
  avatar: asItIs(picture),
});
