import { MAX_HITS } from '../../domain/channel.ts';
import type { CatalogRecord } from './record.ts';

export type OwnChannel = ReturnType<typeof searchable>;

/** A channel, with the words of its title and handle as one text: ` word word `. */
export function searchable(record: CatalogRecord) {
  return { record, words: ` ${wordsOf(`${record.title} ${record.customUrl ?? ''}`).join(' ')} ` };
}

/**
 * Returns at most `MAX_HITS` channels of which each word of the query begins a word. Those that have all of them as whole words
 * come first, otherwise the order stays.
 */
export function searchChannels(channels: Iterable<OwnChannel>, query: string): OwnChannel[] {
  const wanted = [...new Set(wordsOf(query))];
  if (wanted.length === 0) return [];
  const withWords: OwnChannel[] = [];
  const withBeginnings: OwnChannel[] = [];
  for (const channel of channels) {
    if (!wanted.every((word) => channel.words.includes(` ${word}`))) continue;
    const isWhole = wanted.every((word) => channel.words.includes(` ${word} `));
    (isWhole ? withWords : withBeginnings).push(channel);
  }
  return [...withWords, ...withBeginnings].slice(0, MAX_HITS);
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
