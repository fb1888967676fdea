import { useTextField } from '../parts/fields.tsx';
import { formatCount } from '../parts/numbers.ts';
import { type PageAddress, readState } from './address.ts';
import { ChannelLink } from './channel-link.tsx';
import type { Loading } from './loading.ts';
import { Notice } from './notice.tsx';
import { type Found, type SearchResult, shortNameOf } from './service.ts';

interface LookupProps {
  readonly address: PageAddress;
  readonly lookup: Loading<Found> | undefined;
}

/** The field for a channel or a text to search for, and what is found if it is no channel. */
export function Lookup({ address, lookup }: LookupProps) {
  const { channel } = address.state.value;
  const field = useTextField(channel);

  function submit(event: SubmitEvent) {
    event.preventDefault();
    const entered = shortNameOf(field.ref.current?.value ?? '');
    if (entered === '') field.ref.current?.focus();
    else if (entered === channel) lookup?.retry();
    else address.go({ ...readState(''), channel: entered });
  }

  return (
    <search class="stack needs-script">
      <form class="stack tight" onSubmit={submit}>
        <label for="query">Look up a channel</label>
        <div class="entry">
          <input
            {...field}
            id="query"
            name="channel"
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
      <Results address={address} results={lookup?.state.value.value?.results} />
    </search>
  );
}

function Results({ address, results }: { address: PageAddress; results: readonly SearchResult[] | undefined }) {
  const { channel } = address.state.value;
  return (
    <div role="status">
      {results?.length === 0 && <p class="notice">Nothing found for “{channel}”.</p>}
      {results !== undefined && results.length > 0 && (
        <ul class="results card" aria-label="Matching channels">
          {results.map(({ channelId, title, customUrl, subscriberCount }) => (
            <li key={channelId}>
              <ChannelLink class="row tight" address={address} channel={customUrl ?? channelId}>
                <b dir="auto">{title}</b>
                <span class="muted" dir="auto">
                  {customUrl ?? channelId}
                </span>
                {subscriberCount !== null && <span class="muted">{formatCount(subscriberCount)}</span>}
              </ChannelLink>
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}
