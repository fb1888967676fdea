import { describe, expect, it } from 'vitest';
import { findYoutubeUrl, parseChannelId, parseHandle } from './youtube-urls.ts';

const ID = 'UCuAXFkgsw1L7xaCfnd5JJOw';

describe('parseHandle', () => {
  it.each([
    ['@gronkh', '@gronkh'],
    ['http://www.youtube.com/@RickAstleyYT', '@RickAstleyYT'],
    ['/@Test-K%C3%B6nig', '@Test-König'],
    ['/@Test-Ko%CC%88nig/videos', '@Test-König'],
    ['http://www.youtube.com/@%E0%B8%99%E0%B8%B2%E0%B8%A2-%E0%B8%9E7', '@นาย-พ7'],
  ])('reads %s', (text, handle) => {
    expect(parseHandle(text)).toBe(handle);
  });

  it.each([
    `http://www.youtube.com/channel/${ID}`,
    'http://www.youtube.com/c/EevblogDave',
    'https://example.org/@gronkh',
    '/@%E0%A4%A',
    '@two words',
    'he/him',
    '@',
    '',
  ])('finds no handle in "%s"', (text) => {
    expect(parseHandle(text)).toBeUndefined();
  });
});

describe('parseChannelId', () => {
  it('reads an ID and the last part of a channel page’s URL', () => {
    expect(parseChannelId(ID)).toBe(ID);
    expect(parseChannelId(`https://www.youtube.com/channel/${ID}`)).toBe(ID);
  });

  it.each(['FEwhat_to_watch', `https://example.org/channel/${ID}`, `https://www.youtube.com/user/${ID}`, `${ID}x`])(
    'finds no ID in %s',
    (text) => {
      expect(parseChannelId(text)).toBeUndefined();
    },
  );
});

describe('findYoutubeUrl', () => {
  it.each(['https://youtube.com/x', 'http://m.youtube.com/x', '/x'])('accepts %s', (text) => {
    expect(findYoutubeUrl(text)?.pathname).toBe('/x');
  });

  it.each([
    '//example.org/x',
    'https://www.youtube.com.example.org/x',
    'javascript:alert(1)',
    'ftp://youtube.com/',
    'x',
  ])('refuses %s', (text) => {
    expect(findYoutubeUrl(text)).toBeUndefined();
  });
});
