import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { formatCount, formatCountry, formatDate } from '../parts/numbers.ts';
import { Snippets } from '../parts/snippets.tsx';
import { shellQuote } from './image-snippets.ts';
import type { ChannelRecord } from './service.ts';

/** The record as text. `null` in a record: the channel hides the value, or the source did not give it. */
export function RecordCard({ record }: { record: ChannelRecord }) {
  const { subscriberCount, viewCount, videoCount, description, publishedAt, country, channelId, links } = record;
  const counts = { Subscribers: subscriberCount, Views: viewCount, Videos: videoCount };
  return (
    <section class="card record" aria-labelledby="record-heading">
      <h2 id="record-heading">Record</h2>
      <dl class="counts">
        {Object.entries(counts).map(([label, count]) => (
          <div key={label}>
            <dt>{label}</dt>
            <Value>{count && formatCount(count)}</Value>
          </div>
        ))}
      </dl>
      {description ? (
        <Description text={description} />
      ) : (
        <p class="muted">{description === null ? 'The description is not available.' : 'No description.'}</p>
      )}
      <dl class="details">
        <dt>Since</dt>
        <Value>
          {publishedAt && (
            <time dateTime={publishedAt} title={publishedAt}>
              {formatDate(publishedAt)}
            </time>
          )}
        </Value>
        <dt>Country</dt>
        <Value>{country && formatCountry(country)}</Value>
        <dt>ID</dt>
        <Value>
          <code>{channelId}</code>
        </Value>
        <dt>Links</dt>
        <Value otherwise="none">
          {links.length > 0 && (
            <ul class="links">
              {links.map(({ title, url }, index) => (
                <li key={index}>
                  <a href={url} title={url} rel="noopener noreferrer nofollow" target="_blank" dir="auto">
                    {title || new URL(url).host}
                  </a>
                </li>
              ))}
            </ul>
          )}
        </Value>
      </dl>
    </section>
  );
}

function Value({ children, otherwise = 'not available' }: { children: ComponentChildren; otherwise?: string }) {
  return children ? <dd>{children}</dd> : <dd class="unknown">{otherwise}</dd>;
}

/** A long description is folded to some lines. */
function Description({ text }: { text: string }) {
  const paragraph = useRef<HTMLParagraphElement>(null);
  const [isFolded, setFolded] = useState(true);
  const [isLong, setLong] = useState(false);

  useLayoutEffect(() => {
    const element = paragraph.current as HTMLParagraphElement;
    // Whether it fits depends on its width.
    const observer = new ResizeObserver(() => {
      if (element.classList.contains('is-folded')) setLong(element.scrollHeight > element.clientHeight + 1);
    });
    observer.observe(element);
    return () => observer.disconnect();
  }, []);

  return (
    <>
      <p ref={paragraph} id="description" class={`description ${isFolded ? 'is-folded' : ''}`} dir="auto">
        {text}
      </p>
      {isLong && (
        <button
          type="button"
          class="link"
          aria-expanded={!isFolded}
          aria-controls="description"
          onClick={() => setFolded(!isFolded)}
        >
          {isFolded ? 'Show all' : 'Show less'}
        </button>
      )}
    </>
  );
}

export function RecordCode({ origin, record }: { origin: string; record: ChannelRecord }) {
  const snippets = [
    { label: 'JSON', text: JSON.stringify(record, null, 2) },
    { label: 'curl', text: `curl -fsS ${shellQuote(`${origin}/api/channel/${record.channelId}`)}` },
  ];
  return (
    <section class="card code record-code" aria-labelledby="code-heading">
      <h2 id="code-heading">Use the record</h2>
      <Snippets label="Copy the record as" snippets={snippets} />
    </section>
  );
}
