import type { Scene } from './scene.ts';
import {
  CANVAS,
  CENTRE,
  circle,
  createRandom,
  linearGradient,
  path,
  radialGradient,
  range,
  rectangle,
  smoothLine,
} from './svg.ts';
import { title } from './titles.ts';

/** Readings of a tide gauge, one line above the other. */
export const ninthTide: Scene = {
  banner: {
    body: [
      `<defs>${linearGradient(
        'line',
        [
          [0, '#3df5d0'],
          [0.5, '#58a6ff'],
          [1, '#c86bff'],
        ],
        0,
      )}`,
      `${radialGradient('calm', [
        [0, '#070b1a', 0.96],
        [0.62, '#070b1a', 0.9],
        [1, '#070b1a', 0],
      ])}</defs>`,
      rectangle(0, 0, CANVAS.width, CANVAS.height, 'fill="#070b1a"'),
      ...range(37).map(reading),
      `<ellipse cx="${CENTRE.x}" cy="${CENTRE.y}" rx="1010" ry="250" fill="url(#calm)"/>`,
      title({
        name: 'NINTH TIDE',
        tagline: 'A quiet count of the sea, every twelve hours',
        family: 'Inter Display',
        weight: 300,
        size: 150,
        spacing: 34,
        fill: '#eafcff',
        taglineFill: '#8fd8e8',
      }),
    ].join(''),
  },
  // Strokes on nothing: every background shines through.
  avatar: [
    `<defs>${linearGradient(
      'ring',
      [
        [0, '#3df5d0'],
        [0.5, '#58a6ff'],
        [1, '#c86bff'],
      ],
      0,
    )}</defs>`,
    circle({ x: 400, y: 400 }, 352, 'fill="#070b1a" fill-opacity=".82" stroke="url(#ring)" stroke-width="22"'),
    ...range(5).map((index) => {
      const y = 262 + index * 70;
      const reach = [170, 240, 262, 240, 170][index] ?? 0;
      const wave = smoothLine(
        range(7).map((step) => ({ x: 400 - reach + (step * reach) / 3, y: y + (step % 2 === 0 ? 20 : -20) })),
      );
      return path(wave, 'fill="none" stroke="url(#ring)" stroke-width="20" stroke-linecap="round"');
    }),
  ].join(''),
};

function reading(index: number): string {
  const random = createRandom(4000 + index * 31);
  const base = 70 + index * 38;
  const phase = random() * Math.PI * 2;
  const points = range(129).map((step) => {
    const x = step * 20;
    const swell = Math.exp(-(((x - 1280 + Math.sin(index / 4) * 620) / 560) ** 2));
    const ripple = Math.sin(x / 74 + phase) * 0.6 + Math.sin(x / 31 + phase * 2) * 0.4;
    return { x, y: base - swell * (48 + 34 * ripple + 30 * random()) + ripple * 4 };
  });
  const line = smoothLine(points);
  const ground = path(`${line}V${CANVAS.height}H0Z`, 'fill="#070b1a" fill-opacity=".9"');
  return (
    ground +
    path(line, `fill="none" stroke="url(#line)" stroke-width="3.2" stroke-opacity="${0.5 + (index % 4) * 0.14}"`)
  );
}
