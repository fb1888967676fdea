import { makeBadge } from 'badge-maker';
import { expect, test } from 'vitest';
import { BADGE_IMAGE_QUERY, COLOR_NAMES } from './badge-parameters.ts';

/** The color in which the library draws the right side: for an unknown color, its default. */
function drawnColor(color: string): string | undefined {
  const svg = makeBadge({ style: 'flat-square', label: 'a', message: 'b', color });
  return /<rect x="\d+" width="\d+" height="20" fill="([^"]*)"/.exec(svg)?.[1];
}

test('each color name has the color that the library draws for it', () => {
  const differences = COLOR_NAMES.filter((name) => BADGE_IMAGE_QUERY.color.read(name) !== drawnColor(name));
  expect(differences).toEqual([]);
  const unknown = COLOR_NAMES.filter((name) => drawnColor(name) === drawnColor('no such color'));
  // The library's default.
  expect(unknown).toEqual(['brightgreen', 'success']);
});

test.each([
  '',
  '#',
  '12345',
  '##fff',
  'ffff',
  '#ffff',
  'url(x)',
  'constructor',
  '__proto__',
  ' red',
  'TOSTRING',
  'no color',
])('"%s" is no color', (text) => {
  expect(BADGE_IMAGE_QUERY.color.read(text)).toBeUndefined();
});
