import { describe, expect, it } from 'vitest';
import { parseImage } from './youtube-urls.ts';

describe('parseImage', () => {
  it.each([
    ['https://yt3.ggpht.com/abc=s88-c-k', 'https://yt3.ggpht.com/abc'],
    ['//yt3.ggpht.com/ytc/abc=s88', 'https://yt3.ggpht.com/ytc/abc'],
    ['https://yt3.googleusercontent.com/abc', 'https://yt3.googleusercontent.com/abc'],
    ['https://lh3.googleusercontent.com/abc=w1060', 'https://lh3.googleusercontent.com/abc'],
    ['http://yt4.ggpht.com/abc=s88', 'https://yt4.ggpht.com/abc'],
    ['https://yt3.googleusercontent.com/abc=s200?days_since_epoch=20666', 'https://yt3.googleusercontent.com/abc'],
  ])('reads %s', (url, base) => {
    expect(parseImage(url, 'avatar')?.key).toBe(base);
  });

  it.each([
    'https://yt3.googleusercontent.com/a/default-user=s100-c-k-c0x00ffffff-no-rj',
    '//yt3.ggpht.com/a/default-user=s88',
    'https://i.ytimg.com/abc=s88',
    'https://yt3.ggpht.com:8443/abc=s88',
    'https://yt3.ggpht.com.example.org/abc=s88',
    'data:image/png;base64,AAAA',
    'https://yt3.ggpht.com/',
    'abc',
    '',
    undefined,
    { url: 'https://yt3.ggpht.com/abc' },
  ])('finds no image in %j', (value) => {
    expect(parseImage(value, 'avatar')).toBeUndefined();
  });
});

it('the original is requested first, then the whole image at a fixed size', () => {
  const base = 'https://yt3.ggpht.com/abc';
  expect(parseImage(base, 'banner')).toEqual({
    kind: 'remote',
    key: base,
    urls: [`${base}=s0`, `${base}=w2560-fcrop64=1,00000000ffffffff-k-c0xffffffff-no-nd-rj`],
  });
  expect(parseImage(base, 'avatar')).toEqual({
    kind: 'remote',
    key: base,
    urls: [`${base}=s0`, `${base}=s900-c-k-c0x00ffffff-no-rj`],
  });
});
