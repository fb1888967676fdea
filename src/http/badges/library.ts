import { createRequire } from 'node:module';

type Library = typeof import('badge-maker');

/** Loads the library with the first badge, because its table of text widths takes 4 MB. */
const load = createRequire(import.meta.url);

/** Draws a badge as shields.io draws it. @returns an SVG. The library escapes texts */
export const makeBadge: Library['makeBadge'] = (format) => (load('badge-maker') as Library).makeBadge(format);

const FILL = /height="20" fill="([^"]*)"/g;

/** What the library draws for a color: a color of SVG. `undefined` if the library does not know the color. */
export function findFill(color: string): string | undefined {
  // The library looks a name up in plain objects, where it also finds "constructor".
  if (color in Object.prototype) return undefined;
  const svg = makeBadge({ style: 'flat-square', label: 'left', message: 'right', labelColor: color, color });
  const [left, right] = [...svg.matchAll(FILL)].map(([, fill]) => fill);
  // For an unknown color, each side has its own default.
  return left === right ? left : undefined;
}
