import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { FORMAT_NAMES, FORMATS, formatRow } from '../../src/domain/formats.ts';
import { VARIANTS } from '../../src/domain/variants.ts';
import { useTestApp } from '../helpers/app.ts';
import { ROOT } from '../helpers/documents.ts';
import type { OpenApiDocument } from '../helpers/openapi.ts';

/* deploy/nginx.conf names paths and formats of the service. test/system/front.test.ts shows what nginx does with them. */

const CONFIGURATION = readFileSync(join(ROOT, 'deploy/nginx.conf'), 'utf8');

/** The expressions of its locations, in their order: images, then badges. */
const [images = '', badges = ''] = [...CONFIGURATION.matchAll(/location ~ "(.+)" \{/g)].map(([, source]) => source);
const [IMAGES, BADGES] = [new RegExp(images), new RegExp(badges)];
const NAMES = ['UCPennantSample00000001A', '@pennantsample', 'pennantsample'];

function copyOf(path: string): 'image' | 'badge' | 'none' {
  if (IMAGES.test(path)) return 'image';
  return BADGES.test(path) ? 'badge' : 'none';
}

describe('nginx caches', () => {
  const service = useTestApp();

  test('the image of every variant and format', () => {
    const paths = NAMES.flatMap((name) =>
      VARIANTS.flatMap((variant) => [
        `/${name}/${variant}`,
        ...FORMAT_NAMES.map((format) => `/${name}/${variant}.${format}`),
      ]),
    );
    expect(paths.filter((path) => copyOf(path) !== 'image')).toEqual([]);
  });

  test('images and badges of the API, and no JSON', async () => {
    const { paths } = (await service.get('/openapi.json')).json<OpenApiDocument>();
    const expected: Record<string, string> = { Image: 'image', ImageOrRecord: 'image', BadgeImage: 'badge' };
    for (const [path, { get }] of Object.entries(paths)) {
      const returns = get?.responses[200]?.$ref.split('/').at(-1) ?? '';
      const example = path.replace('{identifier}', '@pennantsample').replace('{variant}', 'tv');
      expect([path, copyOf(example)]).toEqual([path, expected[returns] ?? 'none']);
    }
  });

  test('nothing as a badge that has another answer without an instance', () => {
    expect(CONFIGURATION).toContain(`"~${badges}" @badge_unreachable;`);
  });

  test('copies for each format that Accept may choose', () => {
    const [, map = ''] = /map \$http_accept \$format \{([^}]+)\}/.exec(CONFIGURATION) ?? [];
    const rules = [...map.matchAll(/"?~\*(.+?)"? (\w+);/g)].map(([, source = '', kind]) => ({
      pattern: new RegExp(source, 'i'),
      kind,
    }));
    const kindOf = (accept: string) => rules.find(({ pattern }) => pattern.test(accept))?.kind;
    for (const format of FORMATS) {
      const { mediaType, isNegotiated } = formatRow(format);
      expect([format, kindOf(mediaType) !== undefined]).toEqual([format, isNegotiated]);
    }
  });
});
