import type { ComponentChildren } from 'preact';
import { formatCount } from './numbers.ts';

/* Charts over time, the newest moment at the right. */

/** The time between two moments, and how many a chart has room for: a quarter of an hour. */
export const STEP_MS = 5_000;
export const MOMENTS = 180;
const TIMES = ['15 min ago', '10', '5', 'now'];

const WIDTH = 600;
const HEIGHT = 100;

interface Series {
  /** The CSS class of its shapes. */
  readonly name: string;
  /** A value for each moment, oldest first. `null`: nothing was measured. */
  readonly values: readonly (number | null)[];
}

interface ChartProps {
  /** Describes the chart, also to screen readers. */
  readonly label: string;
  readonly series: readonly Series[];
}

/** Stacked bars, one column for each moment. */
export function StackedBars({ label, series }: ChartProps) {
  const count = series[0]?.values.length ?? 0;
  const heights = Array.from({ length: count }, (_, at) => series.map(({ values }) => values[at] ?? 0));
  const highest = Math.max(1, ...heights.map((column) => column.reduce((sum, value) => sum + value, 0)));
  const width = WIDTH / MOMENTS;
  const half = highest % 2 === 0 ? formatCount(highest / 2) : '';
  return (
    <Plot label={label} labels={[formatCount(highest), half, '0']}>
      {heights.map((column, at) => {
        let top = HEIGHT;
        return column.map((value, index) => {
          const height = (value / highest) * HEIGHT;
          top -= height;
          const x = WIDTH - (count - at) * width;
          return height > 0 && <rect class={series[index]?.name} x={x} y={top} width={width - 0.8} height={height} />;
        });
      })}
    </Plot>
  );
}

/** One for each power of ten, from 10 to 0.0001 s. */
const POWERS = ['10 s', '1 s', '100 ms', '10 ms', '1 ms', '0.1 ms'];

/** Durations in seconds as lines over a logarithmic scale. A line crosses the moments without a value. */
export function DurationLines({ label, series }: ChartProps) {
  // Smaller and greater values are drawn at the ends of the axis.
  const heightOf = (value: number) => HEIGHT * Math.min(1, Math.max(0, (1 - Math.log10(value)) / 5));
  return (
    <Plot label={label} labels={POWERS}>
      {series.map(({ name, values }) => {
        const points = values.flatMap((value, at) => {
          const x = WIDTH - ((values.length - 1 - at) * WIDTH) / (MOMENTS - 1);
          return value === null ? [] : [`${x} ${heightOf(value)}`];
        });
        // A single value is a dot: a line of no length with round ends.
        const line = points.length > 0 && `M${points.join('L')}h0.01`;
        return line && <path key={name} class={name} d={line} stroke-linecap="round" />;
      })}
    </Plot>
  );
}

interface PlotProps extends Pick<ChartProps, 'label'> {
  /** The labels of the vertical axis, equally spaced from top to bottom. */
  readonly labels: readonly string[];
  readonly children: ComponentChildren;
}

function Plot({ label, labels, children }: PlotProps) {
  return (
    <div class="plot">
      <p class="unit">{label}</p>
      <div class="axis">{spans(labels)}</div>
      <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" role="img" aria-label={label}>
        {labels.map((text, at) => {
          const y = (at * HEIGHT) / (labels.length - 1);
          return <line key={`${at} ${text}`} class="grid" x1={0} x2={WIDTH} y1={y} y2={y} />;
        })}
        {children}
      </svg>
      <p class="scale">{spans(TIMES)}</p>
    </div>
  );
}

function spans(texts: readonly string[]) {
  return texts.map((text, at) => <span key={`${at} ${text}`}>{text}</span>);
}

export function Legend({ entries }: { entries: readonly { name: string; label: string; value?: string }[] }) {
  return (
    <ul class="row legend">
      {entries.map(({ name, label, value }) => (
        <li key={name}>
          <i class={`key ${name}`} />
          {label} {value !== undefined && <b>{value}</b>}
        </li>
      ))}
    </ul>
  );
}

interface BarRowProps {
  readonly label: string;
  readonly words: string;
  /** Shares of the whole bar, 0 to 1. */
  readonly parts: readonly { readonly name: string; readonly share: number }[];
}

/** A name, its amount as text, and a bar of colored shares. */
export function BarRow({ label, words, parts }: BarRowProps) {
  return (
    <div class="bar-row">
      <span>{label}</span>
      <span>{words}</span>
      <span class="bar" aria-hidden="true">
        {parts.map(({ name, share }) => (
          <i key={name} class={name} style={{ width: `${share * 100}%` }} />
        ))}
      </span>
    </div>
  );
}
