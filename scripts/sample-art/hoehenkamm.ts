import type { Scene } from './scene.ts';
import {
  CANVAS,
  circle,
  createRandom,
  linearGradient,
  path,
  pickFrom,
  radialGradient,
  range,
  rectangle,
  round,
} from './svg.ts';
import { title } from './titles.ts';

const HAZE = ['#e8a089', '#c97a7b', '#9c6079', '#6f4e74', '#493f68', '#2b2d52', '#171b38'];

/** Ridges behind ridges at sunrise. */
export const hoehenkamm: Scene = {
  banner: {
    body: [
      `<defs>${linearGradient('dawn', [
        [0, '#2e5f8a'],
        [0.3, '#86b1bf'],
        [0.52, '#f7dcb4'],
        [0.7, '#f9b384'],
      ])}`,
      `${radialGradient('sun', [
        [0, '#fff6dc'],
        [0.2, '#ffe9b8', 0.85],
        [0.5, '#ffdfa6', 0.3],
        [1, '#ffd9a0', 0],
      ])}</defs>`,
      rectangle(0, 0, CANVAS.width, CANVAS.height, 'fill="url(#dawn)"'),
      circle({ x: 1940, y: 380 }, 520, 'fill="url(#sun)"'),
      circle({ x: 1940, y: 380 }, 96, 'fill="#fffaf0"'),
      ...range(HAZE.length).map((index) => ridge(index)),
      title({
        name: 'Höhenkamm',
        tagline: 'Ridge walks on foot, from hut to hut',
        family: 'Inter Display',
        weight: 800,
        size: 176,
        spacing: -5,
        fill: '#ffffff',
        taglineFill: '#fff0dd',
        drop: 40,
      }),
    ].join(''),
  },
  avatar: [
    `<defs>${linearGradient('d', [
      [0, '#2e5f8a'],
      [0.6, '#f7dcb4'],
      [1, '#f9b384'],
    ])}</defs>`,
    rectangle(0, 0, 800, 800, 'fill="url(#d)"'),
    circle({ x: 236, y: 226 }, 84, 'fill="#ffe3a3"'),
    path('M0 560L210 330L330 450L470 240L800 610V800H0Z', 'fill="#755579"'),
    path('M470 240L392 357L440 392L478 352L530 400L566 348Z', 'fill="#fffaf0"'),
    path('M0 650L180 520L360 640L560 500L800 680V800H0Z', 'fill="#4a4069"'),
    path('M0 740L260 630L520 720L800 620V800H0Z', 'fill="#171b38"'),
  ].join(''),
};

/** A jagged line by halving: each half's middle is moved by less than the one before. */
function ridge(index: number): string {
  const random = createRandom(900 + index * 17);
  const base = 560 + index * 128;
  let heights = range(6).map((at) => base + (at % 2 === index % 2 ? -70 : 50) * (0.5 + random()));
  for (let spread = 190 - index * 8; spread > 4; spread *= 0.56) {
    heights = heights.flatMap((height, at) => {
      const next = heights[at + 1];
      return next === undefined ? [height] : [height, (height + next) / 2 + (random() - 0.5) * spread];
    });
  }
  const step = CANVAS.width / (heights.length - 1);
  const line = heights.map((height, at) => `L${round(at * step)} ${round(height)}`).join('');
  return path(`M0 ${CANVAS.height}${line}L${CANVAS.width} ${CANVAS.height}Z`, `fill="${pickFrom(HAZE, index)}"`);
}
