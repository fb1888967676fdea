import { formatCount } from '../parts/numbers.ts';
import { searchOf } from './address.ts';
import type { Loading } from './loading.ts';
import { Notice } from './notice.tsx';
import type { Found, SearchResult } from './service.ts';

interface LookupProps {
  /** What the address of the page names. */
  readonly channel: string;
  readonly lookup: Loading<Found> | undefined;
}

/** The field for a channel or a text to search for, which leads to its page, and what is found if it is no channel. */
export function Lookup({ channel, lookup }: LookupProps) {
  const results = lookup?.state.value.value?.results;
  return (
    <search class="stack">
      <form class="stack tight">
        <label for="query">Look up a channel</label>
        <div class="entry">
          <input
            id="query"
            name="channel"
            defaultValue={channel}
            required
            dir="auto"
            autocomplete="off"
            autocapitalize="none"
            spellcheck={false}
            enterkeyhint="search"
            placeholder="@handle or youtube.com/…"
          />
          <button class="primary" type="submit">
            Look up
          </button>
        </div>
      </form>
      <Notice of={lookup} />
      <div role="status">
        {results?.length === 0 && <p class="notice">Nothing found for “{channel}”.</p>}
        {results !== undefined && results.length > 0 && (
          <ul class="results card" aria-label="Matching channels">
            {results.map((result) => (
              <Result key={result.channelId} of={result} />
            ))}
          </ul>
        )}
      </div>
    </search>
  );
}

function Result({ of: { channelId, title, customUrl, subscriberCount } }: { of: SearchResult }) {
  const name = customUrl ?? channelId;
  return (
    <li>
      <a class="row tight" href={searchOf({ channel: name })}>
        <b dir="auto">{title}</b>
        <span class="muted" dir="auto">
          {name}
        </span>
        {subscriberCount !== null && <span class="muted">{formatCount(subscriberCount)}</span>}
      </a>
    </li>
  );
}
