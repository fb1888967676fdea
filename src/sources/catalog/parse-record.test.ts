import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
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

describe('parseRecord', () => {
  it('reads a full record, in the order of the fields', () => {
    const record = parseRecord(JSON.stringify(FULL));
    expect(record).toEqual(FULL);
    expect(Object.keys(record)).toEqual(Object.keys(FULL));
  });

  it('knows the fields that docs/catalog.md lists', () => {
    const rows = readFileSync('docs/catalog.md', 'utf8').matchAll(/^\| (`[^|]+) \|/gm);
    const listed = [...rows].flatMap(([, names = '']) => names.replaceAll('`', '').split(', '));
    const ignored = ['bannerUrl', 'avatarUrl', 'bannerUrls'];
    expect(listed.toSorted()).toEqual([...Object.keys(FULL), ...ignored].toSorted());
  });

  it('treats absent fields as unknown', () => {
    const record = parseRecord('{"channelId":"UCPennantSample00000001A","title":"T"}');
    expect(record).toMatchObject({
      title: 'T',
      description: null,
      links: null,
      subscriberCount: null,
      bannerFile: null,
    });
  });

  it('ignores the URLs of an API response', () => {
    const record = parse({ bannerUrl: 'x', avatarUrl: 7, bannerUrls: {} });
    expect(record).toEqual(FULL);
  });

  it.each([
    ['[]', 'must be a JSON object, got a list of 0'],
    ['7', 'must be a JSON object, got 7'],
  ])('refuses %s', (line, message) => {
    expect(() => parseRecord(line)).toThrow(new RecordRefusedError('', message));
  });

  it('refuses text that is not JSON', () => {
    expect(() => parseRecord('{"title":')).toThrow(/^not JSON: /);
    // The line is the file's, not line 1 of this text.
    expect(() => parseRecord('{"title": nothing}')).toThrow(/^not JSON: (?!.*\bline\b)/);
    expect(() => parseRecord('{bad')).toThrow(/^not JSON: (?!.*\bline\b)/);
  });

  it.each([
    [{ channelId: 'UCshort' }, 'channelId: must be "UC" followed by 22 letters, digits, "_" or "-", got "UCshort"'],
    [{ channelId: undefined }, 'channelId: must be "UC" followed by 22 letters, digits, "_" or "-", got nothing'],
    [{ title: ' ' }, 'title: must be a text that is not empty, got " "'],
    [
      { title: 'a\nb' },
      'title: must be a text without line breaks, other control characters and changes of direction, got "a\\u{a}b"',
    ],
    [{ title: '\u202ea' }, /^title: must be a text without .* changes of direction, got "\\u\{202e\}a"$/],
    [{ links: [{ title: 'a\0', url: 'https://a.example' }] }, /^links\[0\]\.title: must be a text without line breaks/],
    [{ title: 'x'.repeat(201) }, 'title: must have at most 200 characters, has 201'],
    [{ description: 5 }, 'description: must be a text, got 5'],
    [{ description: '\ud800' }, /^description: must be a text without halves of surrogate pairs/],
    [{ customUrl: 'pennant' }, /^customUrl: must be "@" and a handle .*, got "pennant"$/],
    [{ customUrl: '@a b' }, /^customUrl: must be "@" and a handle/],
    [
      { publishedAt: '2014-02-30T00:00:00Z' },
      /^publishedAt: must be a time that exists.*, got "2014-02-30T00:00:00Z"$/,
    ],
    [{ publishedAt: '2014-05-17' }, /^publishedAt: /],
    [{ country: 'nl' }, 'country: must be a country code of two capital letters, got "nl"'],
    [{ subscriberCount: 12.5 }, 'subscriberCount: must be a decimal integer as a string, got 12.5'],
    [{ viewCount: '007' }, 'viewCount: must be a decimal integer as a string, got "007"'],
    [{ videoCount: '-1' }, 'videoCount: must be a decimal integer as a string, got "-1"'],
    [{ links: {} }, 'links: must be an array of links, got an object'],
    [{ links: [{ title: 'a', url: 'javascript:1' }] }, /^links\[0\]\.url: must be an absolute URL with http or https/],
    [{ links: [{ title: 'a', url: 'https://a.example', icon: 1 }] }, 'links[0].icon: no such field'],
    [{ links: [null] }, 'links[0]: must be a JSON object, got null'],
    [{ username: 'a b' }, /^username: must be 1 to 60/],
    [{ bannerFile: '../secret.png' }, 'bannerFile: must be a file name without a path, got "../secret.png"'],
    [{ avatarFile: '..' }, /^avatarFile: must be a file name without a path/],
    [{ avatarFile: 'a\\b' }, /^avatarFile: must be a file name without a path/],
    [{ subscribers: '1' }, 'subscribers: no such field'],
  ])('refuses %j', (fields, message) => {
    expect(() => parse(fields)).toThrow(message);
  });

  it('refuses extremely deep nesting', () => {
    const deep = '['.repeat(200_000) + ']'.repeat(200_000);
    expect(() => parseRecord(deep)).toThrow('must be a JSON object, got a list of 1');
    for (const field of ['title', 'links', 'username', 'other']) {
      expect(() => parseRecord(`{"channelId":"${FULL.channelId}","${field}":${deep}}`)).toThrow(RecordRefusedError);
    }
  });

  it.each(['__proto__', 'constructor', 'toString', 'hasOwnProperty'])('refuses a field called %s', (name) => {
    const line = JSON.stringify(FULL).replace('{', `{"${name}":{},`);
    expect(() => parseRecord(line)).toThrow(`${name}: no such field`);
  });

  it('writes links as browsers do', () => {
    const links = [{ title: 'a', url: 'https://A.example/\u0001b' }];
    expect(parse({ links })).toMatchObject({ links: [{ title: 'a', url: 'https://a.example/%01b' }] });
  });

  it('repeats no terminal control characters of broken JSON', () => {
    expect(() => parseRecord('\u001b[2J\u009b31m')).toThrow(/^not JSON: [^\p{Cc}]{1,160}$/u);
    expect(() => parseRecord(`{"${'x'.repeat(100_000)}\u001b`)).toThrow(/^not JSON: [^\p{Cc}]{1,160}$/u);
  });

  it('has no control characters and no long values in the message', () => {
    expect(() => parse({ country: '\u009b31m'.repeat(100) })).toThrow(/^[^\p{Cc}]{1,160}$/u);
  });
});
