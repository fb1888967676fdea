import type { Scene } from './scene.ts';
import {
  CANVAS,
  circle,
  linearGradient,
  type Point,
  path,
  pickFrom,
  radialGradient,
  range,
  rectangle,
  round,
  smoothLine,
} from './svg.ts';
import { title } from './titles.ts';

const FLAGS = ['#ff6b4a', '#ffd166', '#f7f1e3', '#2ec4b6', '#ef476f'];

/** Signal pennants over a bay at dusk. */
export const pennant: Scene = {
  banner: {
    body: [
      `<defs>${linearGradient('sky', [
        [0, '#131a4a'],
        [0.42, '#3b2f7d'],
        [0.68, '#b8477f'],
        [0.86, '#ff8a5c'],
        [1, '#ffc27a'],
      ])}`,
      `${radialGradient('glow', [
        [0, '#ffe3a8', 0.95],
        [0.35, '#ffb36b', 0.5],
        [1, '#ff8a5c', 0],
      ])}</defs>`,
      rectangle(0, 0, CANVAS.width, CANVAS.height, 'fill="url(#sky)"'),
      circle({ x: 1280, y: 1130 }, 760, 'fill="url(#glow)"'),
      circle({ x: 1280, y: 1130 }, 172, 'fill="#fff0c9"'),
      stars(),
      ...range(6).map(wave),
      `<g opacity=".5">${bunting({ x: -80, y: 250 }, { x: 2640, y: 250 }, 200, 46, 3, 0.6)}</g>`,
      bunting({ x: -120, y: -40 }, { x: 1280, y: -90 }, 360, 19, 0),
      bunting({ x: 1280, y: -90 }, { x: 2680, y: -20 }, 340, 19, 2),
      title({
        name: 'Pennant Sample',
        tagline: 'One channel, every crop: a banner that shows where it is cut',
        family: 'League Spartan',
        weight: 800,
        size: 168,
        spacing: -4,
        fill: '#fff6e4',
        taglineFill: '#ffdcb8',
        drop: 36,
      }),
    ].join(''),
    guides: { ink: '#ffe9c7', paper: '#3b2f7d' },
  },
  avatar: [
    `<defs>${linearGradient('a', [
      [0, '#1b1f5e'],
      [0.55, '#7a3b86'],
      [1, '#ff8a5c'],
    ])}</defs>`,
    rectangle(0, 0, 800, 800, 'fill="url(#a)"'),
    circle({ x: 400, y: 400 }, 290, 'fill="#fff0c9" fill-opacity=".1"'),
    path('M262 150V668', 'stroke="#fff6e4" stroke-width="30" stroke-linecap="round"'),
    path('M277 176L640 292L277 408Z', 'fill="#ff6b4a"'),
    path('M277 176L458 234L458 350L277 408Z', 'fill="#ffd166"'),
    path('M277 176L367 205L367 379L277 408Z', 'fill="#f7f1e3"'),
    path('M277 452L500 518L277 584Z', 'fill="#2ec4b6"'),
  ].join(''),
};

function stars(): string {
  return range(90)
    .map((index) => ({ x: (index * 947) % 2560, y: (index * 389) % 520, radius: 1 + (index % 3) * 0.8 }))
    .map(({ x, y, radius }) => circle({ x, y }, radius, `fill="#fff" fill-opacity="${0.25 + (x % 5) / 10}"`))
    .join('');
}

function wave(index: number): string {
  const top = 1090 + index * 62;
  const crest = range(13).map((step) => ({
    x: -120 + step * 240 + (index % 2) * 110,
    y: top + (step % 2 === 0 ? 0 : 30 + index * 3),
  }));
  const colours = ['#a4437f', '#7f3a80', '#5d337c', '#432d72', '#2e2663', '#1d1d50'];
  const shape = `M-260 1480L-260 ${top}${smoothLine(crest).replace('M', 'L')}L2860 ${top}L2860 1480Z`;
  return path(shape, `fill="${pickFrom(colours, index)}" fill-opacity="${index === 0 ? 0.75 : 0.94}"`);
}

/** Flags on a line that hangs between two points. */
function bunting(from: Point, to: Point, sag: number, count: number, shift: number, scale = 1): string {
  const pointAt = (part: number): Point => ({
    x: round(from.x + (to.x - from.x) * part),
    y: round(from.y + (to.y - from.y) * part + sag * 4 * part * (1 - part)),
  });
  const line = range(61)
    .map((step) => pointAt(step / 60))
    .map(({ x, y }, index) => `${index === 0 ? 'M' : 'L'}${x} ${y}`)
    .join('');
  const flags = range(count).map((index) => {
    const a = pointAt((index + 0.1) / count);
    const b = pointAt((index + 0.9) / count);
    const tip = { x: (a.x + b.x) / 2, y: (a.y + b.y) / 2 + 118 * scale };
    const fill = pickFrom(FLAGS, index + shift);
    const shade = `M${tip.x} ${tip.y}L${b.x} ${b.y}L${(a.x + b.x) / 2} ${(a.y + b.y) / 2}Z`;
    return (
      path(`M${a.x} ${a.y}L${b.x} ${b.y}L${tip.x} ${tip.y}Z`, `fill="${fill}"`) +
      path(shade, 'fill="#131a4a" fill-opacity=".16"')
    );
  });
  return `${flags.join('')}${path(line, `fill="none" stroke="#fff6e4" stroke-width="${round(5 * scale)}"`)}`;
}
