import type { ComponentChildren } from 'preact';
import { Card, Facts } from '../parts/card.tsx';
import { formatCount } from '../parts/numbers.ts';
import { Snippets } from '../parts/snippets.tsx';
import { shellQuote } from './image-snippets.ts';
import type { ChannelRecord } from './service.ts';

/** The record as text. `null` in a record: the channel hides the value, or the source did not give it. */
export function RecordCard({ record }: { record: ChannelRecord }) {
  const { subscriberCount, viewCount, videoCount, description, publishedAt, country, channelId, links } = record;
  const counts = { Subscribers: subscriberCount, Views: viewCount, Videos: videoCount };
  const shown = Object.entries(counts).map(([name, count]) => [name, count && formatCount(count)]);
  return (
    <Card id="record" heading="Record">
      <Facts of={Object.fromEntries(shown)} />
      {description ? (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a long description can be reached, because it scrolls.
        <p class="description" tabIndex={0} dir="auto">
          {description}
        </p>
      ) : (
        <p class="muted">{description === null ? 'The description is not available.' : 'No description.'}</p>
      )}
      <dl class="details">
        <Detail name="Since">{publishedAt?.slice(0, 'YYYY-MM-DD'.length) ?? null}</Detail>
        <Detail name="Country">{country}</Detail>
        <Detail name="ID">
          <code>{channelId}</code>
        </Detail>
        <Detail name="Links">
          {links.length === 0
            ? 'none'
            : links.map(({ title, url }, index) => (
                <a key={index} href={url} title={url} rel="noopener noreferrer nofollow" target="_blank" dir="auto">
                  {title || new URL(url).host}
                </a>
              ))}
        </Detail>
      </dl>
    </Card>
  );
}

function Detail({ name, children }: { name: string; children: ComponentChildren }) {
  return (
    <>
      <dt>{name}</dt>
      <dd class={children === null ? 'muted' : ''}>{children ?? 'not available'}</dd>
    </>
  );
}

export function RecordCode({ base, record }: { base: string; record: ChannelRecord }) {
  const snippets = [
    { label: 'JSON', text: JSON.stringify(record, null, 2) },
    { label: 'curl', text: `curl -fsS ${shellQuote(`${base}/api/channel/${record.channelId}`)}` },
  ];
  return (
    <Card id="code" heading="Use the record">
      <Snippets label="Copy the record as" snippets={snippets} />
    </Card>
  );
}
