import { describe, expect, test } from 'vitest';
import { readState } from './address.ts';
import { choiceOf, imageUrl } from './image-url.ts';
import type { ChannelRecord } from './service.ts';

const ORIGIN = 'https://img.pennant.example';
const RECORD = {
  channelId: 'UCPennantSample00000001A',
  customUrl: '@Höhe.1',
  bannerUrl: `${ORIGIN}/a`,
  avatarUrl: `${ORIGIN}/b`,
} as ChannelRecord;
const BARE = { ...RECORD, customUrl: null, bannerUrl: null } as ChannelRecord;

describe('the URL of the image for the address', () => {
  test.each([
    ['', '/tv?width=1280'],
    ['?variant=avatar', '/avatar?width=176'],
    ['?format=avif&width=640&height=100&quality=50', '/tv.avif?width=640&height=100&quality=50'],
    ['?width=auto', '/tv'],
    ['?width=600&height=900&fit=contain&background=ff8800', '/tv?width=600&height=900&fit=contain&background=ff8800'],
    // `fit` has an effect with both sides only, and `background` with padding only.
    ['?width=600&height=900&background=fff', '/tv?width=600&height=900'],
    ['?width=600&fit=contain', '/tv?width=600'],
    // `quality` has no effect on PNG.
    ['?format=png&quality=50', '/tv.png?width=1280'],
  ])('%s ends with %s', (search, end) =>
    expect(imageUrl(ORIGIN, RECORD, choiceOf(RECORD, readState(search)))).toBe(`${ORIGIN}/@H%C3%B6he.1${end}`),
  );

  test('has the ID and the avatar of a channel without a handle and a banner', () => {
    const url = imageUrl(ORIGIN, BARE, choiceOf(BARE, readState('?variant=tv')));
    expect(url).toBe(`${ORIGIN}/UCPennantSample00000001A/avatar?width=176`);
  });
});
