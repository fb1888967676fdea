/** One line of a plot; points from left to right. */
export interface Line {
  readonly name: string;
  readonly points: ReadonlyArray<readonly [x: number, y: number]>;
}

export interface PlotOptions {
  readonly title: string;
  readonly xLabel: string;
  readonly yLabel: string;
  /** True for a logarithmic axis. */
  readonly xScale: 'log' | 'linear';
  readonly yScale: 'log' | 'linear';
  readonly lines: readonly Line[];
}

const WIDTH = 720;
const HEIGHT = 400;
const AREA = { left: 70, top: 44, right: 530, bottom: 340 };
/** Colours that colour-blind people can distinguish (Okabe and Ito, 2008). */
const COLOURS = ['#0072b2', '#d55e00', '#009e73', '#cc79a7', '#e69f00'];

/** A line plot as SVG, readable on light and dark pages. */
export function drawPlot({ title, xLabel, yLabel, xScale, yScale, lines }: PlotOptions): string {
  const xs = lines.flatMap(({ points }) => points.map(([x]) => x));
  const ys = lines.flatMap(({ points }) => points.map(([, y]) => y));
  const x = createAxis(xScale, xs, AREA.left, AREA.right);
  const y = createAxis(yScale, yScale === 'linear' ? [0, ...ys] : ys, AREA.bottom, AREA.top);
  const middle = (AREA.left + AREA.right) / 2;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" font-family="sans-serif" font-size="13">`,
    `<title>${title}</title>`,
    `<rect width="${WIDTH}" height="${HEIGHT}" fill="#ffffff"/>`,
    `<text x="${middle}" y="24" text-anchor="middle" font-size="15">${title}</text>`,
    ...x.ticks.map((tick) => tickAt(x.at(tick), AREA.top, x.at(tick), AREA.bottom)),
    ...x.ticks.map((tick) => label(x.at(tick), AREA.bottom + 18, 'middle', formatTick(tick))),
    ...y.ticks.map((tick) => tickAt(AREA.left, y.at(tick), AREA.right, y.at(tick))),
    ...y.ticks.map((tick) => label(AREA.left - 8, y.at(tick) + 4, 'end', formatTick(tick))),
    label(middle, AREA.bottom + 42, 'middle', xLabel),
    `<text transform="translate(18 ${(AREA.top + AREA.bottom) / 2}) rotate(-90)" text-anchor="middle">${yLabel}</text>`,
    ...lines.flatMap((line, number) => drawLine(line, number, x, y)),
    '</svg>\n',
  ].join('\n');
}

interface Axis {
  at(value: number): number;
  readonly ticks: readonly number[];
}

function createAxis(scale: 'log' | 'linear', values: readonly number[], from: number, to: number): Axis {
  const ticks = scale === 'log' ? powers(values) : steps(values);
  const place = scale === 'log' ? Math.log : (value: number) => value;
  const lowest = place(ticks[0] as number);
  const highest = place(ticks.at(-1) as number);
  return { ticks, at: (value) => round(from + ((place(value) - lowest) / (highest - lowest)) * (to - from)) };
}

/** The distinct values if there are few, otherwise powers of ten around them. */
function powers(values: readonly number[]): number[] {
  const distinct = [...new Set(values)].toSorted((left, right) => left - right);
  if (distinct.length <= 8) return distinct;
  const lowest = Math.floor(Math.log10(distinct[0] as number));
  const highest = Math.ceil(Math.log10(distinct.at(-1) as number));
  return Array.from({ length: highest - lowest + 1 }, (_, at) => 10 ** (lowest + at));
}

function steps(values: readonly number[]): number[] {
  const highest = Math.max(...values);
  const magnitude = 10 ** Math.floor(Math.log10(highest));
  const step = [0.1, 0.2, 0.5, 1, 2].map((part) => part * magnitude).find((size) => highest / size <= 6) ?? magnitude;
  return Array.from({ length: Math.ceil(highest / step) + 1 }, (_, at) => round(at * step));
}

function drawLine({ name, points }: Line, number: number, x: Axis, y: Axis): string[] {
  const colour = COLOURS[number % COLOURS.length] as string;
  const places = points.map(([left, right]) => [x.at(left), y.at(right)] as const);
  const legend = AREA.top + 10 + number * 22;
  return [
    `<polyline fill="none" stroke="${colour}" stroke-width="2" points="${places.map(([left, top]) => `${left},${top}`).join(' ')}"/>`,
    ...places.map(([left, top]) => `<circle cx="${left}" cy="${top}" r="3" fill="${colour}"/>`),
    `<rect x="${AREA.right + 16}" y="${legend - 9}" width="14" height="4" fill="${colour}"/>`,
    label(AREA.right + 36, legend - 3, 'start', name),
  ];
}

function tickAt(x1: number, y1: number, x2: number, y2: number): string {
  return `<line x1="${x1}" y1="${y1}" x2="${x2}" y2="${y2}" stroke="#d0d0d0"/>`;
}

function label(x: number, y: number, anchor: string, text: string): string {
  return `<text x="${x}" y="${y}" text-anchor="${anchor}">${text}</text>`;
}

function formatTick(value: number): string {
  return value.toLocaleString('en', { maximumFractionDigits: 3 });
}

function round(value: number): number {
  return Math.round(value * 1000) / 1000;
}
