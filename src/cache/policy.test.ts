import { describe, expect, test } from 'vitest';
import type { Channel, SearchHit } from '../domain/channel.ts';
import { channelKey } from './keys.ts';
import { CACHE_POLICY, type Original } from './policy.ts';

const ID = 'UCsome_________________A';
const CHANNEL: Channel = {
  channelId: ID,
  title: 'Some channel',
  description: '',
  customUrl: '@Some',
  publishedAt: '2014-05-17T09:30:00Z',
  country: 'NL',
  subscriberCount: '1284000',
  viewCount: null,
  videoCount: '0',
  links: [{ title: 'Website', url: 'https://pennant.example/' }],
  banner: { kind: 'remote', key: 'https://yt3.ggpht.com/a', urls: ['https://yt3.ggpht.com/a=s0'] },
  avatar: { kind: 'remote', key: 'https://yt3.ggpht.com/b', urls: ['https://yt3.ggpht.com/b=s0'] },
};
const HIT: SearchHit = {
  ...{ channelId: ID, title: 'Some channel', description: null, customUrl: null },
  ...{ subscriberCount: '1', videoCount: null, banner: 'unknown', avatar: 'present' },
};
const ORIGINAL: Original = {
  ...{ refKey: 'key', digest: '0123456789abcdef0123456789abcdef', firstStoredAtMs: 1_700_000_000_000 },
  ...{ width: 2_560, height: 1_440, format: 'gif', hasAlpha: false },
};
const NOTHING_KNOWN = Object.fromEntries(Object.keys(CHANNEL).map((field) => [field, null]));

describe('a stored record', () => {
  const fits = (value: unknown) => CACHE_POLICY.records.isValue(value, channelKey(ID));
  const ofChannel = (changes: object) => ({
    channel: { ...CHANNEL, ...changes },
    loadedAtMs: 1_700_000_000_000,
    lastSeenAtMs: {},
  });

  test('is used with all fields, and with ID and title only', () => {
    expect(fits(ofChannel({}))).toBe(true);
    expect(fits(ofChannel({ ...NOTHING_KNOWN, channelId: ID, title: 'Some channel' }))).toBe(true);
    expect(fits({ movedTo: 'UCother________________A' })).toBe(true);
  });

  test.each<[string, unknown]>([
    ['null', null],
    ['an empty object', {}],
    ['an empty channel', { channel: {}, loadedAtMs: 0, lastSeenAtMs: {} }],
    ['no time', { channel: CHANNEL }],
    ['the record of another channel', ofChannel({ channelId: 'UCother________________A' })],
    ['a redirect to something other than a channel', { movedTo: '../x' }],
    ['no title', ofChannel({ title: '' })],
    ['a title of two lines', ofChannel({ title: 'a\nb' })],
    ['a title that turns the text around it', ofChannel({ title: 'a\u202eb' })],
    ['such a title of a link', ofChannel({ links: [{ title: 'a\u202eb', url: 'https://pennant.example/' }] })],
    ['a number as count', ofChannel({ subscriberCount: 1_284_000 })],
    ['an invalid count', ofChannel({ viewCount: 'many' })],
    ['another form of time', ofChannel({ publishedAt: 'yesterday' })],
    ['a script as link', ofChannel({ links: [{ title: 'x', url: 'javascript:alert(1)' }] })],
    ['an invalid link', ofChannel({ links: [{ title: 'x', url: 'https://' }] })],
    ['an image over http', ofChannel({ banner: { kind: 'remote', key: 'k', urls: ['http://10.0.0.1/'] } })],
    [
      'an image of a catalog',
      ofChannel({ avatar: { kind: 'catalog-file', key: 'catalog:0123', fileName: '0123.jpg' } }),
    ],
  ])('is refused with %s', (_what, value) => {
    expect(fits(value)).toBe(false);
  });
});

test('a stored name is used when it is a channel ID', () => {
  expect([ID, 'undefined', '', null, { channelId: ID }].map((value) => CACHE_POLICY.names.isValue(value))).toEqual([
    ...[true, false, false, false, false],
  ]);
});

test('stored search results are used when every hit is valid', () => {
  const fits = (hits: unknown) => CACHE_POLICY.searches.isValue({ hits });
  expect([fits([]), fits([HIT, HIT])]).toEqual([true, true]);
  const wrong = [null, {}, [null], [HIT, { ...HIT, channelId: 'x' }], [{ ...HIT, banner: true }]];
  expect(wrong.map((hits) => fits(hits))).toEqual(wrong.map(() => false));
  expect(CACHE_POLICY.searches.isValue([HIT])).toBe(false);
});

test('stored metadata of an original is used when it is plausible', () => {
  expect(CACHE_POLICY.originals.isValue(ORIGINAL)).toBe(true);
  expect(CACHE_POLICY.originals.isValue({ ...ORIGINAL, width: 65_535, height: 700 })).toBe(true);
  for (const wrong of [
    { refKey: '' },
    { digest: '../x' },
    { width: 0 },
    { width: 65_536 },
    { height: 1e9 },
    { format: 'svg' },
    { firstStoredAtMs: null },
  ]) {
    expect(CACHE_POLICY.originals.isValue({ ...ORIGINAL, ...wrong })).toBe(false);
  }
});
