import { expect, test } from 'vitest';
import { channelInOwnAddress } from './own-address.ts';

const ID = 'UCPennantSample00000001A';

test.each([
  [`/api/channel/${ID}`, ID],
  [`/api/banner/${ID}?type=tv&format=avif`, ID],
  [`/${ID}/mobile.webp?width=640`, ID],
  [`/${ID}.jpg`, ID],
  [`/api/badge/${ID}.svg`, ID],
  [`/youtube/channel/views/${ID}.json`, ID],
  ['/@pennantsample/tv', 'youtube.com/@pennantsample/tv'],
  ['/@pennantsample.webp', 'youtube.com/@pennantsample'],
  ['/api/badge/@pennantsample.svg?metric=views', 'youtube.com/@pennantsample'],
  ['/api/channel/pennantsample?type=handle', '@pennantsample'],
  ['/api/channel/pennantsample?type=username', 'youtube.com/user/pennantsample'],
  ['/c/pennantsample', 'youtube.com/c/pennantsample'],
  ['/playground/?channel=@pennantsample', '@pennantsample'],
  ['/api/search?q=pennant', ''],
  ['/openapi.json', ''],
  ['/', ''],
])('%s of this instance names %s', (path, channel) => {
  for (const base of ['https://img.example.org', 'https://img.example.org/pennant']) {
    for (const text of [` ${base}${path} `, `${base.slice('https://'.length)}${path}`, path]) {
      expect(channelInOwnAddress(text, base)).toBe(channel);
    }
  }
});

test.each(['https://example.org/@pennantsample', '@pennantsample', 'pennant'])(
  '%s is no address of this instance',
  (text) => expect(channelInOwnAddress(text, 'https://img.example.org')).toBeUndefined(),
);
