import { type GetOptions, notPennant, Problem, type RequestDeps } from './api.ts';
import { element, find } from './dom.ts';
import { describeFault, type Identified, identify } from './identify.ts';
import { type ChannelRecord, isRecord } from './image-choice.ts';
import { RESERVE } from './patience.ts';
import { createRegion } from './region.ts';
import { createSearchBox } from './search-box.ts';

/** A lookup takes up to three requests: record, banner, avatar. */
const LOOKUP_REQUESTS = 3;
const MAX_HITS = 8;
const MAX_CHARACTERS = 100;

interface ChannelFinder {
  /** Looks up the channel that a text names, or searches for the text if it names none. Replaces the former lookup. */
  readonly find: (text: string) => void;
  /** Ends the lookup or search and its notice. */
  readonly end: () => void;
  /** Shows a sentence instead of a lookup. */
  readonly say: (words: string) => void;
  /** Writes the text of the search field. */
  readonly setText: (text: string) => void;
  readonly focus: () => void;
}

interface ChannelFinderDeps extends RequestDeps {
  /** A text was typed, pasted or chosen. */
  readonly onSubmit: (text: string) => void;
  /** A lookup begins. @param text as it was typed */
  readonly onLookup: (text: string) => void;
  /** @param signal aborted when the next lookup begins */
  readonly onFound: (record: ChannelRecord, signal: AbortSignal) => void;
  /** There is no channel to show: a search begins, or the lookup has failed. */
  readonly onNothing: () => void;
}

/** The search field with its suggestions, lookups and searches. */
export function createChannelFinder({
  onSubmit,
  onLookup,
  onFound,
  onNothing,
  api,
  budget,
  instance,
}: ChannelFinderDeps): ChannelFinder {
  const region = createRegion(find('#notice', HTMLElement), budget);
  const searchBox = createSearchBox(find('#lookup', HTMLFormElement), { search: suggest, onSubmit });

  /**
   * @returns `undefined` if there is no channel with a name that was typed without an @, and may be a text to search for;
   *   rejects with `Problem`
   */
  async function findRecord({ kind, path }: Identified, options: GetOptions): Promise<ChannelRecord | undefined> {
    try {
      const found = await api.getJson(`${instance()}${path}`, options);
      if (isRecord(found)) return found;
    } catch (error) {
      if (kind === 'name' && error instanceof Problem && error.code === 'channel_not_found') return undefined;
      throw error;
    }
    throw notPennant();
  }

  /** @returns rejects with `Problem` */
  async function findChannels(text: string, options: GetOptions) {
    const query = encodeURIComponent(text.slice(0, MAX_CHARACTERS));
    const { results } = await api.getJson(`${instance()}/api/search?q=${query}&limit=${MAX_HITS}`, options);
    if (!Array.isArray(results)) throw notPennant();
    return results;
  }

  /**
   * Suggestions while the visitor types. There are none if the budget would not allow a lookup afterwards, or if the search
   * fails. A lookup then reports the error.
   */
  async function suggest(text: string, signal: AbortSignal) {
    if (instance() === '' || budget.waitMs(RESERVE + LOOKUP_REQUESTS) > 0) return [];
    try {
      return await findChannels(text, { signal });
    } catch (error) {
      if (!signal.aborted && !(error instanceof Problem)) throw error;
      return [];
    }
  }

  function lookUp(text: string, named: Identified) {
    onLookup(text);
    void region.run({
      label: `Looking up ${text}.`,
      verb: 'Look up',
      load: (options) => findRecord(named, options),
      show(found, signal) {
        if (found === undefined) searchFor(named.value, `There is no channel with the name “${named.value}”. `);
        else onFound(found, signal);
      },
      fail({ code }) {
        onNothing();
        if (named.kind === 'id' || code !== 'channel_not_found') return [];
        return [element('button', { type: 'button', onclick: () => searchFor(named.value) }, 'Search for it')];
      },
      retry: () => lookUp(text, named),
    });
  }

  /** Offers search results for a text that names no channel. @param reason a sentence before them */
  function searchFor(text: string, reason = '') {
    onNothing();
    const fault = describeFault(text);
    if (fault !== undefined) return region.say(fault);
    void region.run({
      label: `Searching for “${text}”.`,
      verb: 'Search',
      load: (options) => findChannels(text, options),
      show(hits) {
        searchBox.offer(hits);
        const found = hits.length === 0 ? `Nothing found for “${text}”.` : 'Choose a channel from the list.';
        region.say(`${reason}${found}`);
      },
      retry: () => searchFor(text, reason),
    });
  }

  return {
    find(text) {
      const named = identify(text);
      if (named === undefined) searchFor(text);
      else lookUp(text, named);
    },
    end: region.end,
    say: region.say,
    setText: searchBox.setText,
    focus: searchBox.focus,
  };
}
