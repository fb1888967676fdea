import { setImmediate as nextTurn } from 'node:timers/promises';
import type { CatalogRecord } from './record.ts';

/** Returns the IDs of at most `limit` channels that match a query, best first. */
export type TextIndex = (query: string, limit: number) => readonly string[];

/** Channels that are indexed before other work runs. */
const CHANNELS_PER_STEP = 200;
/** A shorter last word must match as a whole: too many words begin with one letter. */
const MIN_PREFIX_CHARACTERS = 2;
/** In shorter words a typo makes another word. */
const MIN_TYPO_CHARACTERS = 5;
const WEIGHTS = { whole: 3, beginning: 2, typo: 1 } as const;
/** More than the words of a title and a handle: the number of words only decides between channels of equal weight. */
const RANKS_PER_WEIGHT = 1_000;

interface IndexedChannel {
  readonly id: string;
  readonly words: number;
}

/**
 * Indexes titles and handles, in steps between which other work runs.
 *
 * A channel matches if it has every word of the query: as a whole, for the last word also as the beginning of a word, or with
 * one typo if no channel has the word. Whole words come first, then channels with few words, then the order of the file.
 */
export async function createTextIndex(records: Iterable<CatalogRecord>): Promise<TextIndex> {
  const channels: IndexedChannel[] = [];
  /** The positions in `channels` of those that have a word. */
  const positionsByWord = new Map<string, number[]>();
  for (const { channelId, title, customUrl } of records) {
    const words = new Set(wordsOf(`${title} ${customUrl ?? ''}`));
    const position = channels.push({ id: channelId, words: words.size }) - 1;
    for (const word of words) {
      const positions = positionsByWord.get(word);
      if (positions === undefined) positionsByWord.set(word, [position]);
      else positions.push(position);
    }
    if (position % CHANNELS_PER_STEP === 0) await nextTurn();
  }
  const sortedWords = [...positionsByWord.keys()].sort();

  /** The indexed words that a word of a query stands for, the best first. */
  function* matchesOf(word: string, isLast: boolean): Generator<readonly [match: string, weight: number]> {
    let isKnown = positionsByWord.has(word);
    if (isKnown) yield [word, WEIGHTS.whole];
    if (isLast && word.length >= MIN_PREFIX_CHARACTERS) {
      for (const match of beginningWith(word, sortedWords)) {
        isKnown = true;
        yield [match, WEIGHTS.beginning];
      }
    }
    if (isKnown || word.length < MIN_TYPO_CHARACTERS) return;
    for (const match of sortedWords) if (hasOneTypo(word, match)) yield [match, WEIGHTS.typo];
  }

  return (query, limit) => {
    const words = [...new Set(wordsOf(query))];
    const weights = new Uint32Array(channels.length);
    /** How many words of the query a channel has, up to the first that it lacks. */
    const matched = new Uint32Array(channels.length);
    let isAnyLeft = words.length > 0;
    for (let number = 0; isAnyLeft && number < words.length; number += 1) {
      isAnyLeft = false;
      for (const [match, weight] of matchesOf(words[number] ?? '', number === words.length - 1)) {
        for (const position of positionsByWord.get(match) ?? []) {
          if (matched[position] !== number) continue;
          isAnyLeft = true;
          matched[position] = number + 1;
          weights[position] = (weights[position] ?? 0) + weight;
        }
      }
    }
    if (!isAnyLeft) return [];
    const found: { readonly id: string; readonly rank: number }[] = [];
    for (const [position, channel] of channels.entries()) {
      if (matched[position] !== words.length) continue;
      found.push({ id: channel.id, rank: (weights[position] ?? 0) * RANKS_PER_WEIGHT - channel.words });
    }
    found.sort((one, other) => other.rank - one.rank);
    return found.slice(0, limit).map(({ id }) => id);
  };
}

function* beginningWith(start: string, sorted: readonly string[]): Generator<string> {
  let [from, to] = [0, sorted.length];
  while (from < to) {
    const middle = (from + to) >> 1;
    if ((sorted[middle] ?? '') < start) from = middle + 1;
    else to = middle;
  }
  for (let word = sorted[from]; word?.startsWith(start); word = sorted[from]) {
    yield word;
    from += 1;
  }
}

/** True if one character of a word is wrong, missing or too many in the other. */
function hasOneTypo(word: string, other: string): boolean {
  const [short, long] = word.length < other.length ? [word, other] : [other, word];
  if (long.length - short.length > 1) return false;
  let same = 0;
  while (same < short.length && short[same] === long[same]) same += 1;
  const isChanged = short.length === long.length;
  return short.slice(isChanged ? same + 1 : same) === long.slice(same + 1);
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
