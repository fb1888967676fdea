import type { Channel } from '../../domain/channel.ts';

/** A channel and the words of its title and handle: ` word word `. */
export interface SearchableChannel {
  readonly channel: Channel;
  readonly words: string;
}

export function searchable(channel: Channel): SearchableChannel {
  return { channel, words: ` ${wordsOf(`${channel.title} ${channel.customUrl ?? ''}`).join(' ')} ` };
}

/**
 * Returns at most `limit` channels of which each word of the query begins a word. Those that have all of them as whole words
 * come first, otherwise the order stays.
 */
export function searchChannels(channels: Iterable<SearchableChannel>, query: string, limit: number): Channel[] {
  const wanted = [...new Set(wordsOf(query))];
  if (wanted.length === 0) return [];
  const withWords: Channel[] = [];
  const withBeginnings: Channel[] = [];
  for (const { channel, words } of channels) {
    if (!wanted.every((word) => words.includes(` ${word}`))) continue;
    const isWhole = wanted.every((word) => words.includes(` ${word} `));
    (isWhole ? withWords : withBeginnings).push(channel);
  }
  return [...withWords, ...withBeginnings].slice(0, limit);
}

const WORD = /[\p{L}\p{M}\p{N}]+/gu;
const ACCENTS = /[\u0300-\u036f]/g;
/** Scripts without spaces between words. */
const UNSPACED = /[\p{scx=Hani}\p{scx=Hira}\p{scx=Kana}\p{scx=Thai}\p{scx=Laoo}\p{scx=Khmr}\p{scx=Mymr}]/u;
const segmenter = new Intl.Segmenter(undefined, { granularity: 'word' });

/** The words of a text in lower case, without accents. */
function wordsOf(text: string): readonly string[] {
  const folded = text.toLowerCase().normalize('NFKD').replace(ACCENTS, '').normalize('NFC');
  if (!UNSPACED.test(folded)) return folded.match(WORD) ?? [];
  return [...segmenter.segment(folded)].filter(({ isWordLike }) => isWordLike).map(({ segment }) => segment);
}
