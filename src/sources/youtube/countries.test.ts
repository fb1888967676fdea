import { expect, it } from 'vitest';
import { COUNTRY_CODES, findCountryCode } from './countries.ts';

it.each([
  ['Turkey', 'TR'],
  ['Hong Kong', 'HK'],
  ['Czech Republic', 'CZ'],
  ["Cote d'Ivoire", 'CI'],
  ['Trinidad & Tobago', 'TT'],
  ['Saint Lucia', 'LC'],
  ['Congo - Kinshasa', 'CD'],
  ['The Gambia', 'GM'],
  ['Micronesia, Federated States of', 'FM'],
  ['Heard Island and McDonald Islands', 'HM'],
  ['Palestine, State of', 'PS'],
  ['Holy See', 'VA'],
  ['U.S. Virgin Islands', 'VI'],
  [' united \u{a0} kingdom\n', 'GB'],
  ['Deutschland', undefined],
  ['', undefined],
  ['US,GB', undefined],
])('the code of "%s" is %s', (name, code) => {
  expect(findCountryCode(name)).toBe(code);
});

it('every code has its English name', () => {
  const names = new Intl.DisplayNames(['en'], { type: 'region' });
  expect(COUNTRY_CODES).toHaveLength(249);
  for (const code of COUNTRY_CODES) expect(findCountryCode(names.of(code) ?? '')).toBe(code);
});
