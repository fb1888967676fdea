/** Banners are drawn on a canvas of this size and rendered at their own. */
export const CANVAS = { width: 2560, height: 1440 };
/** The middle of the canvas: every crop is centred on it. */
export const CENTRE = { x: CANVAS.width / 2, y: CANVAS.height / 2 };

export interface Point {
  readonly x: number;
  readonly y: number;
}

/** A repeatable sequence of numbers from 0 to 1 (mulberry32): the same pictures on every run. */
export function createRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

export function range(count: number): number[] {
  return Array.from({ length: count }, (_, index) => index);
}

export function pickFrom<T>(items: readonly T[], index: number): T {
  const item = items[((index % items.length) + items.length) % items.length];
  if (item === undefined) throw new RangeError('nothing to pick from');
  return item;
}

export function svgDocument(width: number, height: number, body: string): string {
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}">${body}</svg>`;
}

/** A gradient from top to bottom, or along `angle` degrees. */
export function linearGradient(id: string, stops: readonly (readonly [number, string, number?])[], angle = 90): string {
  const marks = stops.map(
    ([offset, colour, opacity = 1]) => `<stop offset="${offset}" stop-color="${colour}" stop-opacity="${opacity}"/>`,
  );
  return `<linearGradient id="${id}" x1="0" y1="0" x2="1" y2="0" gradientTransform="rotate(${angle} .5 .5)">${marks.join('')}</linearGradient>`;
}

export function radialGradient(id: string, stops: readonly (readonly [number, string, number?])[]): string {
  const marks = stops.map(
    ([offset, colour, opacity = 1]) => `<stop offset="${offset}" stop-color="${colour}" stop-opacity="${opacity}"/>`,
  );
  return `<radialGradient id="${id}">${marks.join('')}</radialGradient>`;
}

export function rectangle(x: number, y: number, width: number, height: number, attributes: string): string {
  return `<rect x="${x}" y="${y}" width="${width}" height="${height}" ${attributes}/>`;
}

export function circle({ x, y }: Point, radius: number, attributes: string): string {
  return `<circle cx="${x}" cy="${y}" r="${radius}" ${attributes}/>`;
}

export function path(data: string, attributes: string): string {
  return `<path d="${data}" ${attributes}/>`;
}

/** A smooth line through points that go from left to right. */
export function smoothLine(points: readonly Point[]): string {
  return points
    .map((point, index) => {
      const before = points[index - 1];
      if (before === undefined) return `M${round(point.x)} ${round(point.y)}`;
      const middle = round((before.x + point.x) / 2);
      return `C${middle} ${round(before.y)} ${middle} ${round(point.y)} ${round(point.x)} ${round(point.y)}`;
    })
    .join('');
}

export function round(value: number): number {
  return Math.round(value * 10) / 10;
}

export function polar(centre: Point, radius: number, degrees: number): Point {
  const radians = (degrees * Math.PI) / 180;
  return { x: round(centre.x + radius * Math.cos(radians)), y: round(centre.y + radius * Math.sin(radians)) };
}

/** An arc of a circle, clockwise from one angle to another. */
export function arc(centre: Point, radius: number, fromDegrees: number, toDegrees: number): string {
  const from = polar(centre, radius, fromDegrees);
  const to = polar(centre, radius, toDegrees);
  const isLarge = toDegrees - fromDegrees > 180 ? 1 : 0;
  return `M${from.x} ${from.y}A${radius} ${radius} 0 ${isLarge} 1 ${to.x} ${to.y}`;
}

interface TextStyle {
  readonly size: number;
  readonly fill: string;
  readonly family?: string;
  readonly weight?: number;
  readonly spacing?: number;
  readonly anchor?: 'start' | 'middle' | 'end';
  readonly extra?: string;
}

export function text({ x, y }: Point, content: string, style: TextStyle): string {
  const { size, fill, family = 'Inter', weight = 500, spacing = 0, anchor = 'middle', extra = '' } = style;
  const escaped = content.replaceAll('&', '&amp;');
  return `<text x="${x}" y="${y}" font-family="${family}" font-weight="${weight}" font-size="${size}" letter-spacing="${spacing}" text-anchor="${anchor}" fill="${fill}" ${extra}>${escaped}</text>`;
}
