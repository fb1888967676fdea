import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { parseRecord, RecordRefusedError } from './record.ts';

const FULL = {
  channelId: 'UCPennantSample00000001A',
  title: 'Pennant Sample',
  description: 'Two\nlines',
  customUrl: '@PennantSample',
  publishedAt: '2014-05-17T09:30:00Z',
  country: 'NL',
  subscriberCount: '1284000',
  viewCount: '96340127',
  videoCount: '0',
  links: [{ title: 'Website', url: 'https://pennant.example/' }],
  username: 'pennantsample',
  bannerFile: 'banner.png',
  avatarFile: null,
};

const parse = (fields: Record<string, unknown>) => parseRecord(JSON.stringify({ ...FULL, ...fields }));

it('a full record is read, without the URLs of an API response; absent fields are unknown', () => {
  expect(parse({ bannerUrl: 'x', avatarUrl: 7, bannerUrls: {} })).toEqual(FULL);
  const unknown = { description: null, links: null, subscriberCount: null, bannerFile: null };
  expect(parseRecord('{"channelId":"UCPennantSample00000001A","title":"T"}')).toMatchObject({ title: 'T', ...unknown });
  const links = [{ title: 'a', url: 'https://A.example/\u0001b' }];
  expect(parse({ links })).toMatchObject({ links: [{ title: 'a', url: 'https://a.example/%01b' }] });
});

it('docs/catalog.md lists its fields', () => {
  const rows = readFileSync('docs/catalog.md', 'utf8').matchAll(/^- (`[^:]+`): /gm);
  const listed = [...rows].flatMap(([, names = '']) => names.replaceAll('`', '').split(', '));
  const ignored = ['bannerUrl', 'avatarUrl', 'bannerUrls'];
  expect(listed.toSorted()).toEqual([...Object.keys(FULL), ...ignored].toSorted());
});

it.each([
  [{ channelId: 'UCshort' }, 'channelId: must be "UC" followed by 22 letters, digits, "_" or "-", got "UCshort"'],
  [{ channelId: undefined }, 'channelId: must be "UC" followed by 22 letters, digits, "_" or "-", got nothing'],
  [{ title: ' ' }, 'title: must be a text that is not empty, got " "'],
  [
    { title: 'a\nb' },
    'title: must be a text without line breaks, other control characters and changes of direction, got "a\\u{a}b"',
  ],
  [{ links: [{ title: 'a\0', url: 'https://a.example' }] }, /^links\[0\]\.title: must be a text without line breaks/],
  [{ title: 'x'.repeat(201) }, 'title: must have at most 200 characters, has 201'],
  [{ description: 5 }, 'description: must be a text, got 5'],
  [{ customUrl: 'pennant' }, /^customUrl: must be "@" and a handle .*, got "pennant"$/],
  [{ publishedAt: '2014-02-30T00:00:00Z' }, /^publishedAt: must be a time that exists.*, got "2014-02-30T00:00:00Z"$/],
  [{ publishedAt: '2014-05-17' }, /^publishedAt: /],
  [{ country: 'nl' }, 'country: must be a country code of two capital letters, got "nl"'],
  [{ subscriberCount: 12.5 }, 'subscriberCount: must be a decimal integer as a string, got 12.5'],
  [{ viewCount: '007' }, 'viewCount: must be a decimal integer as a string, got "007"'],
  [{ links: {} }, 'links: must be an array of links, got an object'],
  [{ links: [{ title: 'a', url: 'javascript:1' }] }, /^links\[0\]\.url: must be an absolute URL with http or https/],
  [{ links: [{ title: 'a', url: 'https://a.example', icon: 1 }] }, 'links[0].icon: no such field'],
  [{ links: [null] }, 'links[0]: must be a JSON object, got null'],
  [{ username: 'a b' }, /^username: must be 1 to 60/],
  [{ bannerFile: '../secret.png' }, 'bannerFile: must be a file name without a path, got "../secret.png"'],
  [{ avatarFile: '..' }, /^avatarFile: must be a file name without a path/],
  [{ avatarFile: 'a\\b' }, /^avatarFile: must be a file name without a path/],
  [{ subscribers: '1' }, 'subscribers: no such field'],
  [{ country: '\u009b31m'.repeat(100) }, /^[^\p{Cc}]{1,160}$/u],
])('%j is refused', (fields, message) => {
  expect(() => parse(fields)).toThrow(message);
});

const DEEP = '['.repeat(200_000) + ']'.repeat(200_000);

it.each([
  ['7', 'must be a JSON object, got 7'],
  [DEEP, 'must be a JSON object, got a list of 1'],
  [`{"channelId":"${FULL.channelId}","links":${DEEP}}`, 'title'],
  [JSON.stringify(FULL).replace('{', '{"__proto__":{},'), '__proto__: no such field'],
  ['{"title": nothing}', /^not JSON$/],
])('the line %.40s is refused', (line, message) => {
  expect(() => parseRecord(line)).toThrow(RecordRefusedError);
  expect(() => parseRecord(line)).toThrow(message);
});
