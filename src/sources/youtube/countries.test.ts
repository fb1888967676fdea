import { describe, expect, it } from 'vitest';
import { COUNTRY_CODES, findCountryCode } from './countries.ts';

describe('findCountryCode', () => {
  it.each([
    ['United Kingdom', 'GB'],
    ['Australia', 'AU'],
    ['Japan', 'JP'],
    ['Turkey', 'TR'],
    ['Türkiye', 'TR'],
    ['Hong Kong', 'HK'],
    ['Macau', 'MO'],
    ['Czech Republic', 'CZ'],
    ['Ivory Coast', 'CI'],
    ['Côte d’Ivoire', 'CI'],
    ["Cote d'Ivoire", 'CI'],
    ['Bosnia and Herzegovina', 'BA'],
    ['Trinidad & Tobago', 'TT'],
    ['St. Lucia', 'LC'],
    ['Saint Lucia', 'LC'],
    ['Congo - Kinshasa', 'CD'],
    ['Saint Vincent and the Grenadines', 'VC'],
    ['The Gambia', 'GM'],
    ['Micronesia, Federated States of', 'FM'],
    ['Heard Island and McDonald Islands', 'HM'],
    ['Pitcairn', 'PN'],
    ['Palestine, State of', 'PS'],
    ['United States Minor Outlying Islands', 'UM'],
    ['Holy See', 'VA'],
    ['U.S. Virgin Islands', 'VI'],
    ['united states', 'US'],
    [' United \u{a0} Kingdom\n', 'GB'],
  ])('knows %s', (name, code) => {
    expect(findCountryCode(name)).toBe(code);
  });

  it.each(['Deutschland', 'Atlantis', '', 'US,GB'])('returns nothing for "%s"', (name) => {
    expect(findCountryCode(name)).toBeUndefined();
  });

  it('returns every code for its English name, and no two codes share a name', () => {
    const names = new Intl.DisplayNames(['en'], { type: 'region' });
    expect(COUNTRY_CODES).toHaveLength(249);
    for (const code of COUNTRY_CODES) expect(findCountryCode(names.of(code) ?? '')).toBe(code);
  });
});
