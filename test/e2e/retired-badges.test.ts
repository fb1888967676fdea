import { makeBadge } from 'badge-maker';
import { describe, expect, test } from 'vitest';
import { useTestApp } from '../helpers/app.ts';

/* The badges of shields.io for channels, at their own paths: in a README, only the host is exchanged. */

const ID = 'UCPennantSample00000001A';

const service = useTestApp();

/** What shields.io drew, in the parameters of its library. */
interface Drawn {
  readonly style: 'flat' | 'flat-square' | 'plastic' | 'for-the-badge' | 'social';
  /** Default: the metric. */
  readonly label?: string;
  /** Default: `red`. */
  readonly color?: string;
  readonly labelColor?: string;
  /** The color of the logo. `undefined`: there is none. */
  readonly logo?: string;
}

const SOCIAL = { style: 'social', logo: '#f00' } as const;
const WIDE = { style: 'for-the-badge' } as const;
const FLAT = { style: 'flat' } as const;
const SQUARE = { style: 'flat-square' } as const;
/** Of a logo without a color of its own, on a dark label. */
const logo = 'whitesmoke';

/** Query strings of READMEs on GitHub (seen 2026-11). */
const SUBSCRIBERS: readonly (readonly [query: string, drawn: Drawn])[] = [
  ['', SOCIAL],
  ['?color=red&style=social', SOCIAL],
  ['?label=Follow%20%40AdamLuiTube&style=social', { ...SOCIAL, label: 'Follow @AdamLuiTube' }],
  ['?style=flat', FLAT],
  ['?logo=youtube&label=Youtube&style=for-the-badge', { ...WIDE, logo, label: 'Youtube' }],
  ['?color=Green&logo=YouTube&logoColor=White&style=for-the-badge', { ...WIDE, logo: 'white', color: 'green' }],
  [
    '?style=for-the-badge&logo=youtube&logoColor=%23fb1b20&label=youtube&labelColor=%23161719&color=%23E4E2E2',
    { ...WIDE, logo: '#fb1b20', label: 'youtube', labelColor: '#161719', color: '#e4e2e2' },
  ],
  [
    '?color=%23E05D44&label=SUBSCRIBE&logo=video&logoColor=white&style=for-the-badge&labelColor=CE4630',
    { ...WIDE, label: 'SUBSCRIBE', labelColor: '#ce4630', color: '#e05d44' },
  ],
  [
    '?style=flat-square&label=%20&logo=youtube&logoColor=ff2129&color=2d2d2d',
    { ...SQUARE, logo: '#ff2129', label: '', color: '#2d2d2d' },
  ],
];

const VIEWS: typeof SUBSCRIBERS = [
  ['', SOCIAL],
  ['?style=flat&label=YouTube%20views&logo=youtube', { ...FLAT, logo, label: 'YouTube views' }],
  ['?style=plastic&logo=youtube', { style: 'plastic', logo }],
  // Parameters of shields.io that mean nothing here, and one that means nothing there.
  ['?cacheSeconds=3600&logoWidth=20&link=https://a.example&colorA=2E3440', SOCIAL],
  ['?metric=videos', SOCIAL],
];

const LOGO = /href="data:image\/svg\+xml;base64,([^"]*)"/;

/** The badge, with the color of its logo instead of the logo. */
function withoutLogo(svg: string): string {
  return svg.replace(LOGO, (_, encoded) => {
    const [, fill] = /fill="([^"]*)"/.exec(Buffer.from(encoded, 'base64').toString()) ?? [];
    return `href="${fill}"`;
  });
}

test.each([
  ...SUBSCRIBERS.map(([query, drawn]) => ['subscribers', '1.28M', query, drawn] as const),
  ...VIEWS.map(([query, drawn]) => ['views', '96.3M', query, drawn] as const),
])('%s: %s%s looks as at shields.io, also with .svg', async (metric, message, query, { logo: fill, ...drawn }) => {
  for (const extension of ['', '.svg']) {
    const { status, headers, text } = await service.get(`/youtube/channel/${metric}/${ID}${extension}${query}`);
    expect([status, headers['content-type']]).toEqual([200, 'image/svg+xml']);
    const logoBase64 = fill === undefined ? {} : { logoBase64: fill };
    expect(withoutLogo(text)).toBe(makeBadge({ label: metric, message, color: 'red', ...drawn, ...logoBase64 }));
  }
});

test.each(['@pennantsample.svg', 'PennantSample'])('%s: a name leads to the channel, too', async (name) => {
  const { text } = await service.get(`/youtube/channel/subscribers/${name}`);
  expect(text).toContain('<title>Subscribers: 1.28M</title>');
});

describe('with .json', () => {
  test('the fields are those of shields.io, with label= and color=', async () => {
    const { status, headers, text } = await service.get(`/youtube/channel/views/${ID}.json?style=social&logo=x`);
    expect(text).toBe(
      JSON.stringify({
        label: 'views',
        message: '96.3M',
        color: 'red',
        link: [`https://www.youtube.com/channel/${ID}`],
        name: 'views',
        value: '96.3M',
      }),
    );
    const badge = await service.get(`/api/badge/${ID}?metric=views`);
    for (const name of ['content-type', 'cache-control', 'access-control-allow-origin']) {
      expect([status, name, headers[name]]).toEqual([200, name, badge.headers[name]]);
    }
    const etag = String(headers.etag);
    const unchanged = await service.get(`/youtube/channel/views/${ID}.json`, { 'if-none-match': etag });
    expect([unchanged.status, unchanged.text]).toEqual([304, '']);

    const own = await service.get('/youtube/channel/subscribers/@pennantsample.json?label=Subs&color=9CF');
    expect(own.json()).toMatchObject({ label: 'Subs', name: 'Subs', color: '#9cf', value: '1.28M' });
  });

  test.each([
    ['subscribers/@nobodyhasthisone.json', 404, 'channel_not_found'],
    ['views/%20.json', 400, 'invalid_parameter'],
    [`views/${ID}.json?color=nocolor`, 400, 'invalid_parameter'],
    [`videos/${ID}.json`, 404, 'route_not_found'],
  ])('an error is JSON with its status: %s', async (path, status, code) => {
    const response = await service.get(`/youtube/channel/${path}`);
    expect([response.status, response.headers['content-type']]).toEqual([status, 'application/problem+json']);
    expect(response.json().code).toBe(code);
  });
});
