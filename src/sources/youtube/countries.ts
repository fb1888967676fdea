/** ISO 3166-1 alpha-2 (iso.org, 249 codes in 2026-11). */
export const COUNTRY_CODES: readonly string[] = (
  'AD AE AF AG AI AL AM AO AQ AR AS AT AU AW AX AZ BA BB BD BE BF BG BH BI BJ BL BM BN BO BQ BR BS BT BV BW BY BZ CA ' +
  'CC CD CF CG CH CI CK CL CM CN CO CR CU CV CW CX CY CZ DE DJ DK DM DO DZ EC EE EG EH ER ES ET FI FJ FK FM FO FR GA ' +
  'GB GD GE GF GG GH GI GL GM GN GP GQ GR GS GT GU GW GY HK HM HN HR HT HU ID IE IL IM IN IO IQ IR IS IT JE JM JO JP ' +
  'KE KG KH KI KM KN KP KR KW KY KZ LA LB LC LI LK LR LS LT LU LV LY MA MC MD ME MF MG MH MK ML MM MN MO MP MQ MR MS ' +
  'MT MU MV MW MX MY MZ NA NC NE NF NG NI NL NO NP NR NU NZ OM PA PE PF PG PH PK PL PM PN PR PS PT PW PY QA RE RO RS ' +
  'RU RW SA SB SC SD SE SG SH SI SJ SK SL SM SN SO SR SS ST SV SX SY SZ TC TD TF TG TH TJ TK TL TM TN TO TR TT TV TW ' +
  'TZ UA UG UM US UY UZ VA VC VE VG VI VN VU WF WS YE YT ZA ZM ZW'
).split(' ');

/** English names that YouTube uses or used, or that ISO 3166-1 has, and that are missing from the Unicode names (CLDR). */
const ALIASES: Readonly<Record<string, readonly string[]>> = {
  BN: ['Brunei Darussalam'],
  BO: ['Bolivia, Plurinational State of'],
  CD: ['Congo, Democratic Republic of the', 'Democratic Republic of the Congo'],
  CG: ['Congo', 'Republic of the Congo'],
  CI: ['Ivory Coast'],
  CV: ['Cabo Verde', 'Cape Verde'],
  CZ: ['Czech Republic'],
  FK: ['Falkland Islands (Islas Malvinas)'],
  FM: ['Micronesia, Federated States of'],
  HK: ['Hong Kong'],
  HM: ['Heard Island and McDonald Islands'],
  IR: ['Iran, Islamic Republic of'],
  KR: ['Korea, Republic of'],
  LA: ['Lao People’s Democratic Republic'],
  MD: ['Moldova, Republic of'],
  MK: ['Macedonia', 'Macedonia (FYROM)'],
  MM: ['Burma', 'Myanmar'],
  MO: ['Macao', 'Macau'],
  PN: ['Pitcairn'],
  PS: ['Palestine', 'Palestine, State of'],
  RU: ['Russian Federation'],
  SY: ['Syrian Arab Republic'],
  SZ: ['Swaziland'],
  TL: ['East Timor'],
  TR: ['Turkey'],
  TW: ['Taiwan, Province of China'],
  TZ: ['Tanzania, United Republic of'],
  UM: ['United States Minor Outlying Islands'],
  US: ['US', 'USA', 'United States of America'],
  VA: ['Vatican City', 'Holy See'],
  VE: ['Venezuela, Bolivarian Republic of'],
  VG: ['Virgin Islands, British'],
  VI: ['Virgin Islands, U.S.'],
  VN: ['Viet Nam'],
};

/** The two-letter code for a country's English name; `undefined` for an unknown name. */
export function findCountryCode(englishName: string): string | undefined {
  codesByName ??= buildCodesByName();
  return codesByName.get(comparableName(englishName));
}

/** Built on first use: it takes about 20 ms, which would slow down the start. */
let codesByName: ReadonlyMap<string, string> | undefined;

function buildCodesByName(): ReadonlyMap<string, string> {
  const names = new Intl.DisplayNames(['en'], { type: 'region' });
  const codes = new Map<string, string>();
  for (const code of COUNTRY_CODES) {
    for (const name of [names.of(code) ?? code, ...(ALIASES[code] ?? [])]) codes.set(comparableName(name), code);
  }
  return codes;
}

function comparableName(name: string): string {
  return name
    .normalize('NFD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replaceAll('’', "'")
    .replaceAll('&', 'and')
    .replace(/\bst\.? /g, 'saint ')
    .replace(/\bthe /g, '')
    .replace(/\s+/g, ' ')
    .trim();
}
