import type { Scene } from './scene.ts';
import { circle, linearGradient, path, radialGradient, range, rectangle } from './svg.ts';

/** A paper lantern; this channel has no banner. */
export const lantern: Scene = {
  avatar: [
    `<defs>${linearGradient('night', [
      [0, '#16223f'],
      [1, '#2d1b3d'],
    ])}`,
    radialGradient('halo', [
      [0, '#ffcf7a', 0.9],
      [0.5, '#ff9f4a', 0.35],
      [1, '#ff9f4a', 0],
    ]),
    `${linearGradient('paper', [
      [0, '#ffe7b0'],
      [0.5, '#ffb95e'],
      [1, '#f0713c'],
    ])}</defs>`,
    rectangle(0, 0, 800, 800, 'fill="url(#night)"'),
    circle({ x: 400, y: 420 }, 400, 'fill="url(#halo)"'),
    path('M400 0V190', 'stroke="#f6d9a6" stroke-width="10"'),
    path('M400 210C600 210 640 330 640 420S600 630 400 630S160 510 160 420S200 210 400 210Z', 'fill="url(#paper)"'),
    ...range(5).map((index) => {
      const y = 262 + index * 78;
      const half = [150, 218, 240, 222, 156][index] ?? 0;
      return path(
        `M${400 - half} ${y}Q400 ${y + 34} ${400 + half} ${y}`,
        'fill="none" stroke="#c4532b" stroke-opacity=".45" stroke-width="7"',
      );
    }),
    rectangle(322, 186, 156, 40, 'rx="12" fill="#5a2a35"'),
    rectangle(322, 614, 156, 40, 'rx="12" fill="#5a2a35"'),
    path('M400 654V716M372 654V696M428 654V696', 'stroke="#f0713c" stroke-width="9" stroke-linecap="round"'),
  ].join(''),
};
