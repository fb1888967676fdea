import type { Scene } from './scene.ts';
import { CANVAS, circle, createRandom, path, pickFrom, range, rectangle } from './svg.ts';
import { title } from './titles.ts';

const TILE_PX = 160;
const GREENS = ['#12372a', '#1f5c45', '#2f7d5b', '#86b76b', '#d9e4b4', '#f3efdc', '#e58f4f'];

/** Drawn in a square from -1 to 1. */
const MOTIFS: readonly ((fill: string, accent: string) => string)[] = [
  (fill) => path('M-1 -1A2 2 0 0 1 1 1H-1Z', `fill="${fill}"`),
  (fill) => path('M-1 -1A2 2 0 0 1 1 1A2 2 0 0 1 -1 -1Z', `fill="${fill}"`),
  (fill, accent) =>
    path('M-1 -1A2 2 0 0 1 1 1H-1Z', `fill="${fill}"`) + path('M-1 0A1 1 0 0 1 0 1H-1Z', `fill="${accent}"`),
  (fill, accent) => circle({ x: 0, y: 0 }, 0.8, `fill="${fill}"`) + circle({ x: 0, y: 0 }, 0.34, `fill="${accent}"`),
  (fill) => path('M-1 -1H1A1 1 0 0 1 -1 -1ZM-1 0H1A1 1 0 0 1 -1 0Z', `fill="${fill}"`),
  (fill) =>
    path('M-1 -1A2 2 0 0 1 1 1A2 2 0 0 1 -1 -1Z', `fill="${fill}"`) +
    path('M-1 -1L1 1', 'stroke="#12372a" stroke-width=".05"'),
];

/** A quilt of leaves and wheels, made of quarter circles. */
export const fernwick: Scene = {
  banner: {
    body: [
      rectangle(0, 0, CANVAS.width, CANVAS.height, 'fill="#12372a"'),
      quilt(-132, 4, 20),
      quilt(932, 4, 61),
      rectangle(0, 508, CANVAS.width, 424, 'fill="#12372a"'),
      sideLeaves(),
      title({
        name: 'Fernwick Works',
        tagline: 'Things that grow, things that turn, and how to mend both',
        family: 'League Spartan',
        weight: 700,
        size: 158,
        spacing: -3,
        fill: '#f3efdc',
        taglineFill: '#a9cf8b',
      }),
    ].join(''),
  },
  // Round on a transparent ground.
  avatar: [
    circle({ x: 400, y: 400 }, 392, 'fill="#12372a"'),
    ...['#86b76b', '#e58f4f', '#2f7d5b', '#f3efdc'].map((fill, index) =>
      path('M400 400V146A254 254 0 0 1 654 400Z', `fill="${fill}" transform="rotate(${index * 90} 400 400)"`),
    ),
    ...['#1f5c45', '#f3efdc', '#d9e4b4', '#12372a'].map((fill, index) =>
      path(
        'M400 400A180 180 0 0 1 580 220A180 180 0 0 1 400 400Z',
        `fill="${fill}" transform="rotate(${index * 90} 400 400)"`,
      ),
    ),
    circle({ x: 400, y: 400 }, 46, 'fill="#12372a"'),
  ].join(''),
};

/** Rows of tiles across the canvas, from `top` on. */
function quilt(top: number, rows: number, seed: number): string {
  const random = createRandom(seed);
  return range(rows)
    .flatMap((row) => range(CANVAS.width / TILE_PX).map((column) => ({ row, column })))
    .map(({ row, column }) => {
      const ground = Math.floor(random() * GREENS.length);
      const figure = ground + 1 + Math.floor(random() * (GREENS.length - 2));
      const turn = Math.floor(random() * 4) * 90;
      const motif = pickFrom(MOTIFS, Math.floor(random() * MOTIFS.length));
      const half = TILE_PX / 2;
      return (
        `<g transform="translate(${column * TILE_PX + half} ${top + row * TILE_PX + half}) rotate(${turn}) scale(${half})">` +
        rectangle(-1.005, -1.005, 2.01, 2.01, `fill="${pickFrom(GREENS, ground)}"`) +
        motif(pickFrom(GREENS, figure), pickFrom(GREENS, figure + 2)) +
        '</g>'
      );
    })
    .join('');
}

function sideLeaves(): string {
  const leaf = path('M0 -66C38 -26 38 26 0 66C-38 26 -38 -26 0 -66Z', 'fill="#1f5c45"');
  return [130, 250, 2310, 2430]
    .map(
      (x, index) => `<g transform="translate(${x} 720) rotate(${index % 2 === 0 ? 24 : -24}) scale(1.5)">${leaf}</g>`,
    )
    .join('');
}
