import type { Scene } from './scene.ts';
import { arc, CANVAS, circle, type Point, path, polar, range, rectangle } from './svg.ts';
import { title } from './titles.ts';

/** Plates on a table, seen from above. */
export const saltmarrow: Scene = {
  banner: {
    body: [
      rectangle(0, 0, CANVAS.width, CANVAS.height, 'fill="#f4e4cf"'),
      rectangle(0, 0, CANVAS.width, 508, 'fill="#d9623b"'),
      rectangle(0, 932, CANVAS.width, 508, 'fill="#39513f"'),
      stripes(),
      citrus({ x: 300, y: 300 }, 290, '#f6b23c', '#fde3a2'),
      plate({ x: 980, y: 180 }, 300, '#fbf3e6', '#39513f'),
      leafRing({ x: 980, y: 180 }, 150, '#7f9b5a'),
      plate({ x: 1730, y: 240 }, 240, '#39513f', '#f4e4cf'),
      egg({ x: 1730, y: 240 }),
      citrus({ x: 2330, y: 210 }, 230, '#e9863a', '#ffd9a8'),
      plate({ x: 330, y: 1210 }, 300, '#f6b23c', '#fbf3e6'),
      leafRing({ x: 330, y: 1210 }, 170, '#d9623b'),
      citrus({ x: 1010, y: 1290 }, 250, '#d9623b', '#fbd2bd'),
      plate({ x: 1620, y: 1220 }, 260, '#fbf3e6', '#d9623b'),
      tomatoes({ x: 1620, y: 1220 }),
      plate({ x: 2270, y: 1230 }, 330, '#e9d2b0', '#39513f'),
      leafRing({ x: 2270, y: 1230 }, 190, '#39513f'),
      rectangle(0, 508, CANVAS.width, 424, 'fill="#f4e4cf"'),
      title({
        name: 'Saltmarrow Kitchen',
        tagline: 'Slow suppers, short recipes, one pan at a time',
        family: 'EB Garamond',
        weight: 700,
        size: 158,
        spacing: -2,
        fill: '#3a2418',
        taglineFill: '#a4471f',
      }),
    ].join(''),
  },
  avatar: [
    rectangle(0, 0, 800, 800, 'fill="#d9623b"'),
    plate({ x: 400, y: 400 }, 330, '#fbf3e6', '#39513f'),
    `<g transform="translate(400 400) scale(1.35) translate(-1730 -240)">${egg({ x: 1730, y: 240 })}</g>`,
    leafRing({ x: 400, y: 400 }, 268, '#7f9b5a'),
  ].join(''),
};

function stripes(): string {
  return range(33)
    .map((index) => rectangle(index * 80, 932, 36, 508, 'fill="#2f4435"'))
    .join('');
}

function plate(centre: Point, radius: number, fill: string, ring: string): string {
  return (
    circle({ x: centre.x + 10, y: centre.y + 16 }, radius, 'fill="#2a1a10" fill-opacity=".18"') +
    circle(centre, radius, `fill="${fill}"`) +
    circle(centre, radius * 0.88, `fill="none" stroke="${ring}" stroke-width="8"`) +
    circle(centre, radius * 0.68, `fill="none" stroke="${ring}" stroke-opacity=".35" stroke-width="4"`)
  );
}

function citrus(centre: Point, radius: number, rind: string, flesh: string): string {
  const segments = range(9).map((index) => {
    const tip = polar(centre, radius * 0.1, index * 40 + 20);
    const wedge = arc(centre, radius * 0.78, index * 40 + 4, index * 40 + 36).replace('M', `M${tip.x} ${tip.y}L`);
    return path(`${wedge}Z`, `fill="${rind}" fill-opacity=".85"`);
  });
  return (
    circle(centre, radius, `fill="${rind}"`) + circle(centre, radius * 0.88, `fill="${flesh}"`) + segments.join('')
  );
}

function leafRing(centre: Point, radius: number, fill: string): string {
  return range(12)
    .map((index) => {
      const at = polar(centre, radius, index * 30);
      return path(
        'M0 -46C26 -18 26 18 0 46C-26 18 -26 -18 0 -46Z',
        `fill="${fill}" transform="translate(${at.x} ${at.y}) rotate(${index * 30 + 28})"`,
      );
    })
    .join('');
}

function egg({ x, y }: Point): string {
  const white = `M${x - 130} ${y + 10}C${x - 140} ${y - 90} ${x - 40} ${y - 140} ${x + 40} ${y - 112}S${x + 150} ${y - 30} ${x + 120} ${y + 40}S${x + 20} ${y + 140} ${x - 60} ${y + 112}S${x - 128} ${y + 70} ${x - 130} ${y + 10}Z`;
  return (
    path(white, 'fill="#fffaf0"') +
    circle({ x: x - 4, y: y - 2 }, 58, 'fill="#f6b23c"') +
    circle({ x: x - 22, y: y - 22 }, 15, 'fill="#ffe3a0"')
  );
}

function tomatoes(centre: Point): string {
  return range(5)
    .map((index) => polar(centre, 92, index * 72 - 18))
    .map((at) => circle(at, 52, 'fill="#d9623b"') + circle(at, 36, 'fill="#f08a62"') + circle(at, 10, 'fill="#fbe2d3"'))
    .join('');
}
