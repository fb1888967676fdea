import { expect, test } from 'vitest';
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
  avatar: null,
};
const HIT: SearchHit = {
  ...{ channelId: ID, title: 'Some channel', description: null, customUrl: null },
  ...{ subscriberCount: '1', videoCount: null, banner: 'unknown', avatar: 'present' },
};
const ORIGINAL: Original = {
  ...{ refKey: 'key', digest: '0123456789abcdef0123456789abcdef', firstStoredAtMs: 1_700_000_000_000 },
  ...{ width: 65_535, height: 1_440, format: 'gif', hasAlpha: false },
};
const recordWith = (changes: object) => ({ channel: { ...CHANNEL, ...changes }, loadedAtMs: 0, lastSeenAtMs: {} });

test('stored values of each kind are used', () => {
  const nothingKnown = Object.fromEntries(Object.keys(CHANNEL).map((field) => [field, null]));
  for (const record of [
    recordWith({}),
    recordWith({ ...nothingKnown, channelId: ID, title: 'Some channel' }),
    { movedTo: 'UCother________________A' },
  ])
    expect(CACHE_POLICY.records.isValue(record, channelKey(ID))).toBe(true);
  expect(CACHE_POLICY.names.isValue(ID)).toBe(true);
  for (const hits of [[], [HIT, HIT]]) expect(CACHE_POLICY.searches.isValue({ hits })).toBe(true);
  expect(CACHE_POLICY.originals.isValue(ORIGINAL)).toBe(true);
});

test.each<[keyof typeof CACHE_POLICY, unknown]>([
  ['records', null],
  ['records', { channel: {}, loadedAtMs: 0, lastSeenAtMs: {} }],
  ['records', { channel: CHANNEL }],
  ['records', recordWith({ channelId: 'UCother________________A' })],
  ['records', { movedTo: '../x' }],
  ['records', recordWith({ title: '' })],
  ['records', recordWith({ title: 'a\u202eb' })],
  ['records', recordWith({ links: [{ title: 'a\u202eb', url: 'https://pennant.example/' }] })],
  ['records', recordWith({ subscriberCount: 1_284_000 })],
  ['records', recordWith({ viewCount: 'many' })],
  ['records', recordWith({ publishedAt: 'yesterday' })],
  ['records', recordWith({ links: [{ title: 'x', url: 'javascript:alert(1)' }] })],
  ['records', recordWith({ banner: { kind: 'remote', key: 'k', urls: ['http://10.0.0.1/'] } })],
  ['records', recordWith({ avatar: { kind: 'catalog-file', key: 'catalog:0123', fileName: '0123.jpg' } })],
  ['names', 'undefined'],
  ['names', { channelId: ID }],
  ['searches', [HIT]],
  ['searches', { hits: [null] }],
  ['searches', { hits: [HIT, { ...HIT, channelId: 'x' }] }],
  ['searches', { hits: [{ ...HIT, banner: true }] }],
  ['originals', { ...ORIGINAL, refKey: '' }],
  ['originals', { ...ORIGINAL, digest: '../x' }],
  ['originals', { ...ORIGINAL, width: 65_536 }],
  ['originals', { ...ORIGINAL, format: 'svg' }],
  ['originals', { ...ORIGINAL, firstStoredAtMs: null }],
])('a stored value of %s is refused: %j', (kind, value) => {
  expect(CACHE_POLICY[kind].isValue(value, channelKey(ID))).toBe(false);
});
