import { describe, expect, it } from 'vitest';
import { parseLinks, unwrapRedirect } from './links.ts';

describe('unwrapRedirect', () => {
  it('takes the target out of the redirector, whichever of its hosts', () => {
    const target = 'https://example.org/a?b=1&c=2';
    for (const host of ['www.youtube.com', 'm.youtube.com', 'youtube.com']) {
      expect(unwrapRedirect(`https://${host}/redirect?redir_token=x&q=${encodeURIComponent(target)}`)).toBe(target);
    }
  });

  it('leaves other URLs as they are, those on YouTube included', () => {
    for (const url of [
      'https://music.youtube.com/channel/x',
      'https://www.youtube.com/@a?q=1',
      'http://www.eevblog.com',
    ]) {
      expect(unwrapRedirect(url)).toBe(url);
    }
  });

  it.each([
    'mailto:a@example.org',
    'javascript:alert(1)',
    'https://www.youtube.com/redirect?event=x',
    'https://www.youtube.com/redirect?q=javascript%3Aalert(1)',
    '/relative',
    '',
  ])('refuses "%s"', (url) => {
    expect(unwrapRedirect(url)).toBeUndefined();
  });
});

describe('parseLinks', () => {
  it('finds none where the part is there without links', () => {
    expect(parseLinks({ channelId: 'x' })).toEqual([]);
  });

  it('says nothing where the list is of an unknown shape', () => {
    expect(parseLinks({ links: { first: 'x' } })).toBeUndefined();
    expect(parseLinks('x')).toBeUndefined();
  });

  it('uses the display text only where there is no target, and never a shortened one', () => {
    const shown = (content: string) => ({
      channelExternalLinkViewModel: { title: { content: 'T' }, link: { content } },
    });
    expect(parseLinks({ links: [shown('example.org/a'), shown('example.org/very…'), shown('not a link')] })).toEqual([
      { title: 'T', url: 'https://example.org/a' },
    ]);
  });

  it('names a link without a title after its host', () => {
    const link = { navigationEndpoint: { urlEndpoint: { url: 'https://example.org/a' } } };
    expect(parseLinks({ primaryLinks: [link] })).toEqual([{ title: 'example.org', url: 'https://example.org/a' }]);
  });
});
