/** A word that every channel's description has. */
const COMMON_WORD = 'channel';
const WORDS = (
  'amber anchor basket bicycle blossom bread bridge candle canyon carpet cedar chess cinder clock cloud coast comet ' +
  'copper coral cotton crane desert drum eagle ember engine falcon feather fern field flute forest fossil fox garden ' +
  'ginger glacier granite guitar harbour hazel heron honey island ivory jasmine jungle kayak kettle kite ladder lake ' +
  'lantern lemon lichen linen maple marble meadow melody mirror monsoon moss mountain nectar needle night nutmeg oasis ' +
  'ocean olive opal orchard otter oxbow paper pebble pepper piano pine planet plum pottery prairie puzzle quartz quilt ' +
  'rabbit raven reef ribbon river robin rocket saffron salt sand satin shadow silver slate sparrow spring stone storm ' +
  'summit sunset thistle thunder tide timber topaz tulip tundra valley velvet violet walnut water willow winter wool'
).split(' ');
const WORDS_PER_DESCRIPTION = 20;

/**
 * The same lines on every run: invented channels of about 130 words. All titles and handles have common words and
 * beginnings: the most expensive content to search.
 */
export function* catalogLines(count: number): Generator<string> {
  const random = createRandom(1);
  const word = () => WORDS[Math.floor(random() * WORDS.length)] ?? COMMON_WORD;
  for (let number = 0; number < count; number += 1) {
    const [first, second] = [word(), word()];
    const title = `${capitalized(first)} ${second}${number % 3 === 0 ? ` ${number}` : ''}`;
    yield JSON.stringify({
      channelId: channelIdOf(number),
      title: alikeTitle(title, number),
      description: `A ${COMMON_WORD} of ${Array.from({ length: WORDS_PER_DESCRIPTION }, word).join(' ')}`,
      customUrl: `@${ALIKE.handle}${String(number).padStart(9, '0')}`,
      publishedAt: '2020-01-01T00:00:00Z',
      // Few channels have many subscribers, as in a real directory.
      subscriberCount: number % 10 === 0 ? null : String(Math.floor(1e8 * random() ** 8)),
      viewCount: String(number * 7),
      videoCount: String(number % 900),
      links: [{ title: 'Website', url: `https://${first}.example/${number}` }],
    });
  }
}

const ALIKE = { title: 'show', article: 'The', halves: ['alpha', 'beta'], handle: 'pennantsample' } as const;

function alikeTitle(title: string, number: number): string {
  return `${number % 2 === 0 ? `${ALIKE.article} ` : ''}${title} ${ALIKE.halves[number % 3 === 0 ? 1 : 0]} ${ALIKE.title}`;
}

/** The most expensive searches in similar content, with the reason. */
export const EXPENSIVE_QUERIES: Readonly<Record<string, string>> = {
  'a word of every title': ALIKE.title,
  'a letter': 's',
  'the first word of every second title': ALIKE.article,
  'two words that no title has together': ALIKE.halves.join(' '),
  'the beginning of every handle': ALIKE.handle,
  'a word of every title and one of none': `${ALIKE.title} qxqxqx`,
};

/** One-letter and longer beginnings, whole words, the common one, several words, handles, IDs and nonsense. */
export function* catalogQueries(count: number): Generator<string> {
  const random = createRandom(2);
  const letters = 'abcdefghijklmnopqrstuvwxyz0123456789';
  const word = () => WORDS[Math.floor(random() * WORDS.length)] ?? COMMON_WORD;
  const number = () => Math.floor(random() * 100_000);
  const forms = [
    (at: number) => letters[at % letters.length] ?? 'a',
    () => word().slice(0, 2),
    () => word().slice(0, 3 + Math.floor(random() * 3)),
    () => COMMON_WORD,
    () => word(),
    () => `${word()} ${word()}`,
    () => `${COMMON_WORD} ${word()} ${word().slice(0, 1)}`,
    () => `${word()} ${word()} ${word()} ${word()} ${word()}`,
    () => `${word()}${number()}`,
    () => `@${word()}${word()}${number()}`,
    () => channelIdOf(number()),
    () => 'a b c d e f g h i j',
    () => `"${word()}* ^${word()}`,
    () => 'qxqxqx',
  ];
  for (let at = 0; at < count; at += 1) yield forms[at % forms.length]?.(Math.floor(at / forms.length)) ?? COMMON_WORD;
}

export function channelIdOf(number: number): string {
  return `UC${String(number).padStart(22, '0')}`;
}

function capitalized(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1);
}

/** Numbers from 0 to 1 that are the same on every run (a linear congruential generator, modulus 2^31). */
function createRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff;
    return state / 2 ** 31;
  };
}
