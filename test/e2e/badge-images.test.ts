import sharp from 'sharp';
import { describe, expect, test } from 'vitest';
import { BADGE_STYLES } from '../../src/domain/badges.ts';
import { startWithoutEncoder, useTestApp } from '../helpers/app.ts';
import { fetchedSamples } from '../helpers/fetched-samples.ts';

const SAMPLE = 'UCPennantSample00000001A';

const titleOf = (svg: string) => /<title>(.*?)<\/title>/.exec(svg)?.[1];

async function pixelsOf(svg: string) {
  const { data, info } = await sharp(Buffer.from(svg))
    .flatten({ background: 'white' })
    .raw()
    .toBuffer({ resolveWithObject: true });
  return { data, width: info.width, height: info.height, channels: info.channels };
}

/** @param x counted from the right if it is negative */
async function colorAt(svg: string, x: number, y: number): Promise<string> {
  const { data, width, channels } = await pixelsOf(svg);
  const at = (y * width + (x < 0 ? width + x : x)) * channels;
  return data.subarray(at, at + 3).toString('hex');
}

describe('a badge image', () => {
  const service = useTestApp();

  test.each([
    [`${SAMPLE}.svg`, 'subscribers: 1.28M'],
    [`${SAMPLE}.svg?metric=views`, 'views: 96.3M'],
    ['@pennantsample.svg', 'subscribers: 1.28M'],
    ['pennantsample.svg?metric=videos', 'videos: 412'],
    ['lanternhours.svg', 'subscribers: hidden'],
    [`${SAMPLE}.svg?label=${encodeURIComponent('Zuschauer · 視聴者 😀')}`, 'Zuschauer · 視聴者 😀: 1.28M'],
    [`${SAMPLE}.svg?label=${'😀'.repeat(60)}`, `${'😀'.repeat(60)}: 1.28M`],
    [`${SAMPLE}.svg?label=%20`, '1.28M'],
    [`${SAMPLE}.svg?style=for-the-badge`, 'SUBSCRIBERS: 1.28M'],
    [`${SAMPLE}.svg?style=social`, 'Subscribers: 1.28M'],
  ])('of %s shows "%s"', async (request, title) => {
    const { status, headers, text } = await service.get(`/api/badge/${request}`);
    expect([status, headers['content-type']]).toEqual([200, 'image/svg+xml']);
    expect(titleOf(text)).toBe(title);
  });

  test.each(BADGE_STYLES)('in the style %s escapes the label and loads nothing', async (style) => {
    const label = '<script>alert("1")</script>&\'';
    const { text } = await service.get(`/api/badge/${SAMPLE}.svg?style=${style}&label=${encodeURIComponent(label)}`);
    expect(text).not.toMatch(/<script|<image|<foreignObject|\shref=|url\((?!#)/i);
    expect(text.toLowerCase()).toContain('&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt;&amp;&apos;');
    const size = await sharp(Buffer.from(text)).metadata();
    expect(size.width).toBeGreaterThan(100);
  });

  test.each([
    ['', 'dd4343'],
    ['&color=FA0', 'ffaa00'],
    ['&color=%230a0b0c', '0a0b0c'],
    ['&color=blue', '007ec6'],
    ['&color=rebeccapurple', '663399'],
    ['&color=gray', '555555'],
    ['&color=%20White%20', 'ffffff'],
    ['&color=SUCCESS', '44bb00'],
    ['&color=rgb(1,%202,%203)', '010203'],
    ['&color=hsl(120,100%25,25%25)', '008000'],
    ['&color=%23ff00ff80', 'ff7fff'],
  ])('with "%s" has the color %s on the right', async (query, color) => {
    const { text } = await service.get(`/api/badge/${SAMPLE}.svg?style=flat-square${query}`);
    expect(await colorAt(text, -3, 2)).toBe(color);
  });

  test.each(['', 'logo=none', 'logo=github', 'logo=data:image/png;base64,iVBORw0KGgo=', 'logoColor=white'])(
    'with "%s" has no logo',
    async (query) => {
      const { text } = await service.get(`/api/badge/${SAMPLE}.svg?${query}`);
      expect(text).not.toContain('<image');
    },
  );

  test('has a logo that is inside of it, and loads nothing', async () => {
    const { text } = await service.get(`/api/badge/${SAMPLE}.svg?logo=youtube&logoColor=white`);
    const references = [...text.matchAll(/(?:href|url)[=(]"?([^")]*)/g)].map(([, target]) => target);
    expect(references.filter((target) => !/^(?:#|data:image\/svg\+xml;base64,)/.test(target ?? ''))).toEqual([]);
    expect(references.filter((target) => target?.startsWith('data:'))).toHaveLength(1);
  });

  test('may run nothing, and is cached for at least five minutes', async () => {
    const service = await startWithoutEncoder(fetchedSamples());
    const first = await service.get(`/api/badge/${SAMPLE}.svg`);
    expect(first.headers).toMatchObject({
      'content-security-policy': "default-src 'none'; img-src data:; style-src 'unsafe-inline'; sandbox",
      'cache-control': 'public, max-age=3600',
      'cross-origin-resource-policy': 'cross-origin',
    });
    service.clock.advance(3_500_000);
    const later = await service.get(`/api/badge/${SAMPLE}.svg`, { 'if-none-match': first.headers.etag ?? '' });
    expect([later.status, later.headers['cache-control']]).toEqual([304, 'public, max-age=300']);
  });
});
