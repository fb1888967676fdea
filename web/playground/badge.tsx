import { BADGE_METRICS, BADGE_STYLES, DEFAULT_METRIC, DEFAULT_STYLE, metricRow } from '../../src/domain/badges.ts';
import { Card } from '../parts/card.tsx';
import { Field, Segmented } from '../parts/fields.tsx';
import { Snippets } from '../parts/snippets.tsx';
import { escapeHtml, escapeMarkdown } from './image-snippets.ts';
import { nameInPath, withParameters } from './image-url.ts';
import { Notice } from './notice.tsx';
import type { ChannelProps } from './service.ts';

const METRICS = BADGE_METRICS.map((metric) => ({
  value: metric === DEFAULT_METRIC ? '' : metric,
  label: metricRow(metric).title,
}));
const STYLES = BADGE_STYLES.map((style) => ({ value: style === DEFAULT_STYLE ? '' : style, label: style }));
const LOGOS = [
  { value: '', label: 'none' },
  { value: 'youtube', label: 'YouTube' },
];
/** The color of a badge without the parameter. */
const DEFAULT_COLOR = '#dd4343';

/** A badge for a README: its options, the service's image for them, and the snippets. */
export function Badge({ address, service, record }: ChannelProps) {
  const { metric, style, label, color, logo } = address.state.value;
  const url = withParameters(`${service.base}/api/badge/${nameInPath(record)}.svg`, {
    metric,
    style,
    label,
    color,
    logo,
  });
  const alt = label || metric || DEFAULT_METRIC;
  const loading = service.image(url);
  const image = loading.state.value.value;
  const page = `https://www.youtube.com/channel/${record.channelId}`;
  const html = `<a href="${page}"><img src="${escapeHtml(url)}" alt="${escapeHtml(alt)}"></a>`;
  return (
    <Card id="badge" heading="Badge for a README">
      <form class="row options" onSubmit={(event) => event.preventDefault()}>
        <Segmented label="Count" choices={METRICS} value={metric} onChoose={(value) => address.go({ metric: value })} />
        <Segmented label="Style" choices={STYLES} value={style} onChoose={(value) => address.go({ style: value })} />
        <Field
          label="Label"
          value={label}
          maxLength={60}
          placeholder="the count"
          onEnter={(text) => address.go({ label: text })}
        />
        <label class="field">
          Color
          <input
            type="color"
            value={color ? `#${color}` : DEFAULT_COLOR}
            onChange={({ currentTarget: { value } }) =>
              address.go({ color: value === DEFAULT_COLOR ? '' : value.slice(1) })
            }
          />
        </label>
        <Segmented label="Logo" choices={LOGOS} value={logo} onChoose={(value) => address.go({ logo: value })} />
      </form>
      <div class="stage">
        {image && <img src={image.src} width={image.width} height={image.height} alt={alt} />}
        <Notice of={loading} />
      </div>
      <Snippets
        label="Copy the badge as"
        snippets={[
          { label: 'Markdown', text: `[![${escapeMarkdown(alt)}](${url})](${page})` },
          { label: 'HTML', text: html },
        ]}
      />
    </Card>
  );
}
