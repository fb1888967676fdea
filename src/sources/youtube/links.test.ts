import { describe, expect, it } from 'vitest';
import { parseLinks, parseLinkTarget } from './links.ts';

const hrefOf = (target: string) => parseLinkTarget(target)?.href;

describe('a link’s target', () => {
  it('is extracted from the redirector, on any of its hosts, with or without a scheme', () => {
    const target = 'https://example.org/a?b=1&c=2';
    for (const site of [
      'https://www.youtube.com',
      'http://m.youtube.com',
      'https://youtube.com',
      'www.youtube.com',
      '',
    ]) {
      expect(hrefOf(`${site}/redirect?redir_token=x&q=${encodeURIComponent(target)}`)).toBe(target);
    }
  });

  it.each([
    'https://www.youtube.com/redirect?q=https%3A%2F%2Fwww.youtube.com%2Fredirect%3Fq%3Dhttps%253A%252F%252Fexample.org%252F',
    'https://www.youtube.com/redirect/?q=https%3A%2F%2Fexample.org%2F',
  ])('is extracted from a redirector in a redirector, and from one with a slash: %s', (url) => {
    expect(hrefOf(url)).toBe('https://example.org/');
  });

  it.each(['https://music.youtube.com/channel/x', 'https://www.youtube.com/@a?q=1', 'http://www.eevblog.com/'])(
    'is unchanged: %s',
    (url) => {
      expect(hrefOf(url)).toBe(url);
    },
  );

  it.each([
    ['www.youtube.com/@LighthouseKeeper', 'https://www.youtube.com/@LighthouseKeeper'],
    ['example.org', 'https://example.org/'],
    ['example.org:8443/a?b#c', 'https://example.org:8443/a?b#c'],
    ['example.org:1', 'https://example.org:1/'],
    ['example.org:65535', 'https://example.org:65535/'],
    ['//example.org/a', 'https://example.org/a'],
    ['/@LighthouseKeeper', 'https://www.youtube.com/@LighthouseKeeper'],
    ['https://www.youtube.com/redirect?q=example.org%2Fa', 'https://example.org/a'],
    ['leuchtfeuer-münchen.example/ü', 'https://xn--leuchtfeuer-mnchen-y6b.example/%C3%BC'],
  ])('without a scheme gets https: %s', (target, url) => {
    expect(hrefOf(target)).toBe(url);
  });

  it('is written as browsers write it, without control characters', () => {
    expect(hrefOf('HTTPS://Example.org/a\u0001b\nc d')).toBe('https://example.org/a%01bc%20d');
  });

  it.each([
    'mailto:a@example.org',
    'javascript:alert(1)',
    'JavaScript:alert(1)//example.org/',
    'javascript:fetch("https://example.org/")',
    'data:text/html,x.y/',
    'data:text/html,https://example.org/',
    'mailto:a@example.org?body=https://example.org/',
    'a@example.org',
    'https://www.youtube.com/redirect?event=x',
    'https://www.youtube.com/redirect?q=javascript%3Aalert(1)',
    'https://',
    'localhost/a',
    'just a text',
    `https://example.org/${'a'.repeat(2_048)}`,
    'a.'.repeat(40_000),
    '',
  ])('is refused: %.60s', (target) => {
    expect(hrefOf(target)).toBeUndefined();
  });
});

describe('parseLinks', () => {
  it('returns an empty list if the part has no links', () => {
    expect(parseLinks({ channelId: 'x' })).toEqual([]);
  });

  it('returns nothing if the list has an unknown shape', () => {
    expect(parseLinks({ links: { first: 'x' } })).toBeUndefined();
    expect(parseLinks('x')).toBeUndefined();
    const moved = { channelExternalLinkViewModel: { title: { content: 'T' }, link: { content: 'example.org/very…' } } };
    expect(parseLinks({ links: [moved] })).toBeUndefined();
    expect(parseLinks({ links: [{ channelLinkViewModel: moved }] })).toBeUndefined();
  });

  it('uses the display text only if there is no target, and never a shortened one', () => {
    const shown = (content: string) => ({
      channelExternalLinkViewModel: { title: { content: 'T' }, link: { content } },
    });
    expect(parseLinks({ links: [shown('example.org/a'), shown('example.org/very…'), shown('not a link')] })).toEqual([
      { title: 'T', url: 'https://example.org/a' },
    ]);
  });

  it('uses the display text if the target is unusable', () => {
    const link = (content: string, url: unknown) => {
      const commandRuns = [{ onTap: { innertubeCommand: { urlEndpoint: { url } } } }];
      return { channelExternalLinkViewModel: { title: { content: 'T' }, link: { content, commandRuns } } };
    };
    const links = [link('example.org/a', 'intent:x'), link('example.org/b', 7), link('Mail', 'mailto:a@example.org')];
    expect(parseLinks({ links })?.map(({ url }) => url)).toEqual(['https://example.org/a', 'https://example.org/b']);
    expect(parseLinks({ links: links.slice(2) })).toEqual([]);
  });

  it('bounds the number of links and the length of titles', () => {
    const link = { title: 'x'.repeat(500), navigationEndpoint: { urlEndpoint: { url: 'https://example.org/a' } } };
    const links = parseLinks({ primaryLinks: Array.from({ length: 300_000 }, () => link) });
    expect(links).toHaveLength(100);
    expect(links?.[0]?.title).toHaveLength(200);
  });

  it('names a link without a title after its host', () => {
    const link = { navigationEndpoint: { urlEndpoint: { url: 'https://example.org/a' } } };
    expect(parseLinks({ primaryLinks: [link] })).toEqual([{ title: 'example.org', url: 'https://example.org/a' }]);
  });
});
