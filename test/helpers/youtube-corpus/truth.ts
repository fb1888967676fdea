import fc from 'fast-check';

/** A count as it is written, without its noun, and what it says. */
export type Count = ReturnType<typeof exactly>;

const base64url = (length: number) => fc.stringMatching(new RegExp(`^[\\w-]{${length}}$`));

const words = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 40 });
const customUrl = fc
  .string({ unit: fc.constantFrom(...'abzABZ019_-.·éöñжяนท日本'), maxLength: 20 })
  .map((rest) => `@a${rest}`);

/** 0 … 9,999 written out, or three digits and a suffix, in either of upstream's English spellings. */
const roundedCount: fc.Arbitrary<Count> = fc.oneof(
  fc.integer({ min: 0, max: 999 }).map(exactly),
  fc
    .record({
      digits: fc.integer({ min: 100, max: 999 }),
      decimals: fc.integer({ min: 0, max: 2 }),
      suffix: fc.constantFrom(['K', 3], ['k', 3], ['M', 6], ['m', 6], ['B', 9]) as fc.Arbitrary<[string, number]>,
    })
    .map(({ digits, decimals, suffix: [letter, zeros] }) => ({
      text: `${(digits / 10 ** decimals).toFixed(decimals)}${letter}`,
      isOne: false,
      value: `${digits}${'0'.repeat(zeros - decimals)}`,
    })),
);

const exactCount: fc.Arbitrary<Count> = fc.oneof(fc.constantFrom(0, 1), fc.integer({ min: 0, max: 3e11 })).map(exactly);

function exactly(value: number) {
  const text = value === 0 ? 'No' : value.toLocaleString('en-US');
  return { text, isOne: value === 1, value: String(value) };
}

const joined = fc
  .record({
    day: fc.date({ min: new Date('2005-02-14'), max: new Date('2026-11-20'), noInvalidDate: true }),
    isDayFirst: fc.boolean(),
  })
  .map(({ day, isDayFirst }) => {
    const month = day.toLocaleString('en-US', { month: 'short', timeZone: 'UTC' });
    const [date, year] = [day.getUTCDate(), day.getUTCFullYear()];
    const text = isDayFirst ? `${date} ${month === 'Sep' ? 'Sept' : month} ${year}` : `${month} ${date}, ${year}`;
    return { text: `Joined ${text}`, iso: `${day.toISOString().slice(0, 10)}T00:00:00Z` };
  });

const country = fc.constantFrom(
  { text: 'United Kingdom', code: 'GB' },
  { text: 'Australia', code: 'AU' },
  { text: 'Türkiye', code: 'TR' },
  { text: 'Turkey', code: 'TR' },
  { text: 'Hong Kong', code: 'HK' },
  { text: 'Côte d’Ivoire', code: 'CI' },
  { text: 'Bosnia & Herzegovina', code: 'BA' },
  { text: 'South Korea', code: 'KR' },
);

const link = fc.record({
  title: words.map((text) => text.trim()).filter((text) => text !== ''),
  url: fc.webUrl({ validSchemes: ['http', 'https'], withQueryParameters: true }),
  isWrapped: fc.boolean(),
});

const pictureBase = fc
  .record({
    host: fc.constantFrom('yt3.googleusercontent.com', 'yt3.ggpht.com'),
    folder: fc.constantFrom('', 'ytc/'),
    name: base64url(40),
  })
  .map(({ host, folder, name }) => `https://${host}/${folder}${name}`);

/** The true values of a generated channel, and their form in upstream's pages. */
export const truths = fc.record({
  channelId: base64url(22).map((rest) => `UC${rest}`),
  title: words.filter((text) => text.trim() !== ''),
  description: fc.string({ unit: 'grapheme', maxLength: 80 }),
  /** With its `@`. */
  customUrl: customUrl.map((handle) => handle.normalize('NFC')),
  joined,
  country,
  subscribers: roundedCount,
  views: exactCount,
  /** The counts in the About panel. */
  videos: exactCount,
  /** The counts in headers, which are rounded above 999. */
  roundedVideos: roundedCount,
  links: fc.array(link, { maxLength: 4 }),
  bannerBase: pictureBase,
  avatarBase: pictureBase,
});

export type Truth = typeof truths extends fc.Arbitrary<infer T> ? T : never;
