import { Segmented } from '../parts/segmented.tsx';
import { Snippets } from '../parts/snippets.tsx';
import { useTextField } from '../parts/text-field.ts';
import { BADGE_STYLES, type PageAddress, type PageState } from './address.ts';
import { escapeHtml, escapeMarkdown } from './image-snippets.ts';
import { nameInPath } from './image-url.ts';
import type { ChannelImages } from './images.ts';
import { Notice } from './notice.tsx';
import type { ChannelRecord } from './service.ts';

const METRICS = [
  { value: '', label: 'Subscribers' },
  { value: 'views', label: 'Views' },
  { value: 'videos', label: 'Videos' },
];
/** The color of a badge without the parameter. */
const USUAL_COLOR = 'dd4343';

interface BadgeProps {
  readonly address: PageAddress;
  readonly origin: string;
  readonly record: ChannelRecord;
  readonly images: ChannelImages;
}

/** A badge for a README: its options, the service's image for them, and the snippets. */
export function Badge({ address, origin, record, images }: BadgeProps) {
  const state = address.state.value;
  const { metric, style, label, color, logo } = state;
  const url = badgeUrl(origin, record, state);
  const labelField = useTextField(label);
  const alt = label || metric || 'subscribers';
  const loading = images.at(url);
  const image = loading.state.value.value;
  const page = `https://www.youtube.com/channel/${record.channelId}`;
  const html = `<a href="${page}"><img src="${escapeHtml(url)}" alt="${escapeHtml(alt)}"></a>`;
  return (
    <section class="card code badge-card" aria-labelledby="badge-heading">
      <h2 id="badge-heading">Badge for a README</h2>
      <form class="options" onSubmit={(event) => event.preventDefault()}>
        <Segmented
          legend="Count"
          name="metric"
          choices={METRICS}
          value={metric}
          onChoose={(value) => address.go({ metric: value })}
        />
        <div class="sizes">
          <label>
            Style
            <select
              value={style || BADGE_STYLES[0]}
              onChange={({ currentTarget: { value } }) => address.go({ style: value === BADGE_STYLES[0] ? '' : value })}
            >
              {BADGE_STYLES.map((name) => (
                <option key={name}>{name}</option>
              ))}
            </select>
          </label>
          <label>
            Label
            <input
              {...labelField}
              class="wide"
              maxLength={60}
              autocomplete="off"
              placeholder="the count"
              onChange={({ currentTarget }) => address.go({ label: currentTarget.value.trim() })}
            />
          </label>
          <label>
            Color
            <input
              type="color"
              value={`#${color || USUAL_COLOR}`}
              onChange={({ currentTarget: { value } }) =>
                address.go({ color: value === `#${USUAL_COLOR}` ? '' : value.slice(1) })
              }
            />
          </label>
          <label>
            Logo
            <select value={logo} onChange={({ currentTarget }) => address.go({ logo: currentTarget.value })}>
              <option value="">none</option>
              <option value="youtube">YouTube</option>
            </select>
          </label>
        </div>
      </form>
      <div class="stage badge-stage">
        {image && <img id="badge-preview" src={image.src} width={image.width} height={image.height} alt={alt} />}
        <Notice of={loading} />
      </div>
      <Snippets
        label="Copy the badge as"
        snippets={[
          { label: 'Markdown', text: `[![${escapeMarkdown(alt)}](${url})](${page})` },
          { label: 'HTML', text: html },
        ]}
      />
    </section>
  );
}

function badgeUrl(origin: string, record: ChannelRecord, { metric, style, label, color, logo }: PageState): string {
  const url = new URL(`/api/badge/${nameInPath(record)}.svg`, origin);
  for (const [name, value] of Object.entries({ metric, style, label, color, logo })) {
    if (value !== '') url.searchParams.set(name, value);
  }
  return url.href;
}
