import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { FORMATS, formatRow } from '../../src/domain/formats.ts';

/* Compares nginx.conf, which cannot import the format table, with it. */

const NGINX = readFileSync(new URL('../../deploy/nginx.conf', import.meta.url), 'utf8');
const NEGOTIATED = FORMATS.filter((format) => formatRow(format).isNegotiated);

/** The patterns of a `map` block that map to this value. */
function patternsOf(source: string, target: string, value: string): string[] {
  const [, block = ''] = NGINX.split(`map ${source} ${target} {`);
  const lines = block.slice(0, block.indexOf('\n  }')).split('\n');
  return lines
    .flatMap((line) => /^\s*"~\*?(.*)" (\S+);$/.exec(line)?.slice(1, 3).join(' ') ?? [])
    .flatMap((row) => {
      const [pattern = '', found] = row.split(/ (?=\S+$)/);
      return found === value ? [pattern] : [];
    });
}

describe('nginx.conf', () => {
  const named = patternsOf('$request_uri', '$is_format_named', '1').map((pattern) => new RegExp(pattern));
  const isNamed = (uri: string) => named.some((pattern) => pattern.test(uri));

  it.each(FORMATS)('treats a URL that names %s as one image, whatever Accept is', (format) => {
    const { extension } = formatRow(format);
    for (const uri of [
      `/UCPennantSample00000001A.${extension}`,
      `/@pennantsample/tv.${extension}`,
      `/@pennantsample/tv.${format}?width=9`,
      `/api/banner/UCPennantSample00000001A?format=${format}&type=tv`,
    ]) {
      expect(isNamed(uri), uri).toBe(true);
    }
  });

  it.each(['/@pennantsample/tv', '/UCPennantSample00000001A', '/api/banner/@a?type=tv'])(
    'lets Accept choose the format of %s',
    (uri) => expect(isNamed(uri)).toBe(false),
  );

  it('has the formats that Accept may choose', () => {
    const [withParameters = ''] = patternsOf('$http_accept', '$accept_class', 'exact');
    expect(/\(\?:([a-z|]+)\)/.exec(withParameters)?.[1]?.split('|')).toEqual(NEGOTIATED);
    expect(NEGOTIATED.map((format) => formatRow(format).mediaType)).toEqual(
      NEGOTIATED.map((format) => `image/${format}`),
    );
  });
});
