import { useState } from 'preact/hooks';
import { Card } from '../parts/card.tsx';

function outcomeOf({ detail, channelId }: { detail?: string; channelId?: string | null }): string {
  return detail ?? (channelId === null ? 'Removed what was stored for that name.' : `Purged ${channelId}.`);
}

/** Asks the service to remove what it stores of a channel. */
export function Purge() {
  const [outcome, setOutcome] = useState('');

  async function submit(event: SubmitEvent) {
    event.preventDefault();
    const { value } = (event.currentTarget as HTMLFormElement).elements.namedItem('channel') as HTMLInputElement;
    setOutcome('');
    const response = await fetch(`purge?channel=${encodeURIComponent(value)}`, {
      method: 'POST',
      headers: { 'x-pennant-console': 'purge' },
    }).catch(() => undefined);
    setOutcome(response === undefined ? 'No response.' : outcomeOf(await response.json()));
  }

  return (
    <Card id="purge" heading="Purge a channel" class="wide">
      <form class="stack tight" onSubmit={submit}>
        <label for="purge-channel">Channel ID, @handle or channel page URL</label>
        <div class="entry">
          <input
            id="purge-channel"
            name="channel"
            required
            autocomplete="off"
            autocapitalize="none"
            spellcheck={false}
          />
          <button type="submit">Purge</button>
        </div>
        <p class="muted">Removes its record, names and images. The next request loads the channel again.</p>
        <p role="status">{outcome}</p>
      </form>
    </Card>
  );
}
