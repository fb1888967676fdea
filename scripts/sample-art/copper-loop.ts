import type { Scene } from './scene.ts';
import { CANVAS, circle, path, pickFrom, range, rectangle } from './svg.ts';
import { title } from './titles.ts';

const BANDS = ['#2a1236', '#7a1f4b', '#c23b3f', '#e8743b', '#f3ae4e', '#fae3b4'];

/** Three loops side by side fill the canvas. */
const RADIUS = CANVAS.width / 6;
const STRAIGHT = 40;

/** Bands of colour that run along and turn, like tape. */
export const copperLoop: Scene = {
  banner: {
    body: [
      rectangle(0, 0, CANVAS.width, CANVAS.height, 'fill="#2a1236"'),
      ...range(3).map((index) => loop(RADIUS * (1 + 2 * index), 0, index)),
      ...range(4).map((index) => loop(RADIUS * 2 * index, CANVAS.height, index + 1)),
      rectangle(0, 508, CANVAS.width, 424, 'fill="#2a1236"'),
      reel(206, 720),
      reel(CANVAS.width - 206, 720),
      title({
        name: 'Copper Loop',
        tagline: 'Tape music, live from one microphone',
        family: 'League Spartan',
        weight: 900,
        size: 190,
        spacing: -6,
        fill: '#fae3b4',
        taglineFill: '#f3ae4e',
        drop: 26,
        gap: 108,
      }),
    ].join(''),
  },
  avatar: [
    rectangle(0, 0, 800, 800, 'fill="#2a1236"'),
    ...range(5).map((index) =>
      circle(
        { x: 400, y: 400 },
        330 - index * 54,
        `fill="none" stroke="${pickFrom(BANDS, index + 1)}" stroke-width="54"`,
      ),
    ),
    rectangle(400, 43, 400, 54, `fill="${BANDS[1]}"`),
    circle({ x: 400, y: 400 }, 44, 'fill="#fae3b4"'),
  ].join(''),
};

/** Half rings that hang from the upper edge, or stand on the lower one. */
function loop(x: number, edge: number, shift: number): string {
  const turn = edge === 0 ? 1 : -1;
  const bend = edge + turn * STRAIGHT;
  return range(6)
    .map((index) => {
      const radius = RADIUS * (1 - index * 0.16);
      const half = `M${x - radius} ${edge}V${bend}A${radius} ${radius} 0 0 ${turn === 1 ? 0 : 1} ${x + radius} ${bend}V${edge}Z`;
      return path(half, `fill="${pickFrom(BANDS, 1 + ((index + shift) % 5))}"`);
    })
    .join('');
}

function reel(x: number, y: number): string {
  const rings = range(5).map((index) => circle({ x, y }, 140 - index * 26, `fill="${pickFrom(BANDS, 1 + index)}"`));
  return rings.join('') + circle({ x, y }, 14, 'fill="#2a1236"');
}
