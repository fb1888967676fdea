/* Small charts, drawn again at each poll. The legend beside a chart has its figures. */

import { element } from '../../site/dom.ts';

const SVG = 'http://www.w3.org/2000/svg';
const WIDTH = 600;
const HEIGHT = 100;

interface Series {
  /** The CSS class of its shapes. */
  readonly name: string;
  readonly values: readonly (number | null)[];
}

/**
 * Stacked bars, one column for each moment.
 *
 * @param label describes the chart to screen readers
 */
export function stackedBars(label: string, series: readonly Series[]) {
  const columns = series[0]?.values.length ?? 0;
  const totals = Array.from({ length: columns }, (_, at) =>
    series.reduce((sum, { values }) => sum + (values[at] ?? 0), 0),
  );
  const highest = Math.max(1, ...totals);
  const width = WIDTH / Math.max(1, columns);
  const chart = createChart(label);
  for (const y of [0, HEIGHT / 2, HEIGHT]) chart.append(gridLine(y));
  for (let at = 0; at < columns; at += 1) {
    let top = HEIGHT;
    for (const { name, values } of series) {
      const height = ((values[at] ?? 0) / highest) * HEIGHT;
      if (height === 0) continue;
      top -= height;
      chart.append(shape('rect', { class: name, x: at * width, y: top, width: Math.max(0.5, width - 0.8), height }));
    }
  }
  return { chart, highest };
}

/** Lines over a logarithmic scale. A moment without a value is a gap, which a dashed line crosses. */
export function logLines(
  label: string,
  series: readonly Series[],
  { lowest, highest }: { lowest: number; highest: number },
) {
  const chart = createChart(label);
  const span = Math.log(highest / lowest);
  const heightOf = (value: number) =>
    HEIGHT - (Math.log(Math.min(highest, Math.max(lowest, value)) / lowest) / span) * HEIGHT;
  for (let value = lowest; value <= highest * 1.001; value *= 10) chart.append(gridLine(heightOf(value)));
  for (const { name, values } of series) {
    const step = WIDTH / Math.max(1, values.length - 1);
    const points = values.flatMap((value, at) =>
      value === null ? [] : [{ at, place: `${at * step} ${heightOf(value)}` }],
    );
    const bridge = points.map(({ place }, index) => `${index === 0 ? 'M' : 'L'}${place}`);
    const path = points.map(({ at, place }, index) => {
      const isLine = points[index - 1]?.at === at - 1;
      // A single value between gaps is a dot: a line of no length with round ends.
      return isLine ? `L${place}` : `M${place}h0.01`;
    });
    chart.append(shape('path', { class: `${name} bridge`, d: bridge.join('') }));
    chart.append(shape('path', { class: name, d: path.join(''), 'stroke-linecap': 'round' }));
  }
  return chart;
}

/** A chart with equally spaced labels: those of the vertical axis from top to bottom, and those of the time axis. */
export function withAxes(
  chart: Element,
  { labels, unit, times }: { labels: readonly string[]; unit: string; times: readonly string[] },
) {
  const texts = (all: readonly string[]) => all.map((text) => element('span', {}, text));
  return element(
    'div',
    { class: 'plot' },
    element('p', { class: 'unit' }, unit),
    element('div', { class: 'axis' }, ...texts(labels)),
    chart,
    element('p', { class: 'scale' }, ...texts(times)),
  );
}

function gridLine(y: number) {
  return shape('line', { class: 'grid', x1: 0, x2: WIDTH, y1: y, y2: y });
}

function createChart(label: string) {
  return shape('svg', {
    viewBox: `0 0 ${WIDTH} ${HEIGHT}`,
    preserveAspectRatio: 'none',
    role: 'img',
    'aria-label': label,
  });
}

function shape(tag: string, attributes: Record<string, string | number>) {
  const made = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, String(value));
  return made;
}
