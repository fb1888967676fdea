import type { Scene } from './scene.ts';
import { arc, CANVAS, createRandom, linearGradient, path, pickFrom, range, rectangle, round } from './svg.ts';
import { title } from './titles.ts';

const STARLIGHT = ['#ffffff', '#cfe6ff', '#ffe9c4', '#a9c8ff', '#ffd0a8'];
const POLE = { x: 1280, y: 620 };

/** An hour of stars turning above a dome. */
export const nightglass: Scene = {
  banner: {
    body: [
      `<defs>${linearGradient('deep', [
        [0, '#03071c'],
        [0.5, '#0c1d4a'],
        [0.8, '#1f4a7a'],
        [1, '#5fa0a8'],
      ])}`,
      `${linearGradient('veil', [
        [0, '#050b26', 0],
        [0.2, '#050b26', 0.78],
        [0.8, '#081437', 0.78],
        [1, '#081437', 0],
      ])}</defs>`,
      rectangle(0, 0, CANVAS.width, CANVAS.height, 'fill="url(#deep)"'),
      trails(POLE, 330, 1750),
      rectangle(0, 470, CANVAS.width, 500, 'fill="url(#veil)"'),
      hills(),
      dome(1980, 1200, 1),
      title({
        name: 'Nightglass',
        tagline: 'A small observatory and what passes over it',
        family: 'EB Garamond',
        weight: 500,
        size: 186,
        spacing: 2,
        fill: '#ffffff',
        taglineFill: '#bcd8ff',
        drop: 24,
        gap: 108,
      }),
    ].join(''),
  },
  avatar: [
    `<defs>${linearGradient('n', [
      [0, '#03071c'],
      [0.7, '#1f4a7a'],
      [1, '#5fa0a8'],
    ])}</defs>`,
    rectangle(0, 0, 800, 800, 'fill="url(#n)"'),
    trails({ x: 400, y: 300 }, 90, 640, 5),
    `<g transform="translate(400 650) scale(1.5)">${dome(0, 0, 1)}</g>`,
    rectangle(0, 640, 800, 160, 'fill="#020617"'),
  ].join(''),
};

function trails(pole: { x: number; y: number }, count: number, reach: number, width = 2.4): string {
  const random = createRandom(77);
  return range(count)
    .map((index) => {
      const radius = round(16 + (reach * (index + random())) / count);
      const start = random() * 360;
      const colour = pickFrom(STARLIGHT, Math.floor(random() * STARLIGHT.length));
      const stroke = `stroke="${colour}" stroke-opacity="${round(0.25 + random() * 0.65)}" stroke-width="${round(width * (0.5 + random()))}"`;
      return path(arc(pole, radius, start, start + 14 + random() * 34), `fill="none" stroke-linecap="round" ${stroke}`);
    })
    .join('');
}

function hills(): string {
  return (
    path('M0 1290C420 1150 760 1240 1180 1210S1900 1150 2560 1240V1440H0Z', 'fill="#06122f"') +
    path('M0 1360C500 1250 900 1370 1400 1310S2200 1230 2560 1330V1440H0Z', 'fill="#020617"')
  );
}

/** Stands on its point. */
function dome(x: number, y: number, scale: number): string {
  return (
    `<g transform="translate(${x} ${y}) scale(${scale})">` +
    rectangle(-120, -70, 240, 90, 'fill="#020617"') +
    path('M-132 -62A132 132 0 0 1 132 -62Z', 'fill="#0b1733"') +
    path('M18 -62L44 -190A132 132 0 0 1 84 -164L62 -62Z', 'fill="#ffd88a"') +
    path('M34 -92L104 -236L120 -228L58 -84Z', 'fill="#c9d8ee"') +
    rectangle(-140, -70, 280, 14, 'rx="7" fill="#142750"') +
    rectangle(-22, -36, 30, 56, 'rx="4" fill="#ffd88a"') +
    '</g>'
  );
}
