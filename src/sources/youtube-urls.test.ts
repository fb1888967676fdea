import { expect, it } from 'vitest';
import { findYoutubeUrl, parseChannelId, parseHandle, parseImage } from './youtube-urls.ts';

const ID = 'UCuAXFkgsw1L7xaCfnd5JJOw';

it.each([
  ['@gronkh', '@gronkh'],
  ['http://www.youtube.com/@RickAstleyYT', '@RickAstleyYT'],
  ['/@Test-Ko%CC%88nig/videos', '@Test-König'],
  ['http://www.youtube.com/@%E0%B8%99%E0%B8%B2%E0%B8%A2-%E0%B8%9E7', '@นาย-พ7'],
  [`http://www.youtube.com/channel/${ID}`, undefined],
  ['https://example.org/@gronkh', undefined],
  ['/@%E0%A4%A', undefined],
  ['@two words', undefined],
  ['@', undefined],
])('the handle in "%s" is %s', (text, handle) => {
  expect(parseHandle(text)).toBe(handle);
});

it.each([
  [ID, ID],
  [`https://www.youtube.com/channel/${ID}`, ID],
  ['FEwhat_to_watch', undefined],
  [`https://example.org/channel/${ID}`, undefined],
  [`https://www.youtube.com/user/${ID}`, undefined],
  [`${ID}x`, undefined],
])('the channel ID in "%s" is %s', (text, channelId) => {
  expect(parseChannelId(text)).toBe(channelId);
});

it.each([
  ['http://m.youtube.com/x', '/x'],
  ['/x', '/x'],
  ['//example.org/x', undefined],
  ['https://www.youtube.com.example.org/x', undefined],
  ['javascript:alert(1)', undefined],
  ['x', undefined],
])('the path of YouTube in "%s" is %s', (text, path) => {
  expect(findYoutubeUrl(text)?.pathname).toBe(path);
});

it.each([
  ['//yt3.ggpht.com/ytc/abc=s88', 'https://yt3.ggpht.com/ytc/abc'],
  ['https://lh3.googleusercontent.com/abc=w1060', 'https://lh3.googleusercontent.com/abc'],
  ['http://yt4.ggpht.com/abc=s88', 'https://yt4.ggpht.com/abc'],
  ['https://yt3.googleusercontent.com/abc=s200?days_since_epoch=20666', 'https://yt3.googleusercontent.com/abc'],
  [
    'https://www.gstatic.com/youtube/img/tvfilm/profile.png?x=1',
    'https://www.gstatic.com/youtube/img/tvfilm/profile.png',
  ],
  ['//www.gstatic.com/youtube/a=b.png', 'https://www.gstatic.com/youtube/a=b.png'],
  ['https://www.gstatic.com/youtube/%2e%2e/a.png', undefined],
  ['https://www.gstatic.com/youtubers/a.png', undefined],
  ['https://www.gstatic.com:8443/youtube/a.png', undefined],
  ['https://user@www.gstatic.com/youtube/a.png', undefined],
  ['//yt3.ggpht.com/a/default-user=s88', undefined],
  ['https://i.ytimg.com/abc=s88', undefined],
  ['https://yt3.ggpht.com:8443/abc=s88', undefined],
  ['https://yt3.ggpht.com.example.org/abc=s88', undefined],
  ['https://yt3.ggpht.com/', undefined],
  ['abc', undefined],
  [{ url: 'https://yt3.ggpht.com/abc' }, undefined],
])('the image at %j is %s', (url, key) => {
  expect(parseImage(url, 'avatar')?.key).toBe(key);
});

it.each([
  ['banner', 'w2560-fcrop64=1,00000000ffffffff-k-c0xffffffff-no-nd-rj'],
  ['avatar', 's900-c-k-c0x00ffffff-no-rj'],
] as const)(
  'the original of a %s is requested first, then the whole image at a fixed size, where its host has sizes',
  (kind, size) => {
    const base = 'https://yt3.ggpht.com/abc';
    expect(parseImage(base, kind)).toMatchObject({ urls: [`${base}=s0`, `${base}=${size}`] });
    const fixed = 'https://www.gstatic.com/youtube/profile.png';
    expect(parseImage(fixed, kind)).toMatchObject({ urls: [fixed] });
  },
);
