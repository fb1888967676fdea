import { describe, expect, it } from 'vitest';
import { channelRefsOf, findHandle, findUsername } from './identifier.ts';

describe('findHandle', () => {
  it.each(['ệ', '한', 'ǘ', '𝒜', 'é'])('accepts 30 code points in any Unicode normalization form: %s', (letter) => {
    const handle = `@${letter.repeat(30)}`;
    for (const form of ['NFC', 'NFD'] as const) {
      expect(findHandle(handle.normalize(form))?.value).toBe(letter.normalize('NFC').repeat(30));
    }
    expect(findHandle(`${handle}${letter}`)).toBeUndefined();
  });

  it('rejects a text that is too long in every normalization form, without normalizing it', () => {
    expect(findHandle(`@e${'\u0301\u0316'.repeat(200_000)}`)).toBeUndefined();
  });
});

describe('findUsername', () => {
  it('accepts 60 characters, and no more', () => {
    expect(findUsername('a'.repeat(60))?.key).toBe('a'.repeat(60));
    expect(findUsername('a'.repeat(61))).toBeUndefined();
    expect(findUsername('')).toBeUndefined();
  });
});

const ID = 'UCPennantSample00000001A';
const kindsAndKeys = (text: string) => channelRefsOf(text).map(({ kind, key }) => `${kind} ${key}`);

describe('channelRefsOf', () => {
  it.each([
    [ID, `id ${ID}`],
    [`  ${ID} `, `id ${ID}`],
    ['@PennantSample', 'handle pennantsample'],
    [`https://www.youtube.com/channel/${ID}`, `id ${ID}`],
    [`https://www.youtube.com/channel/${ID}/videos?view=0`, `id ${ID}`],
    ['http://m.youtube.com/@PennantSample/about', 'handle pennantsample'],
    ['youtube.com/@PennantSample', 'handle pennantsample'],
    ['m.youtube.com/@PennantSample', 'handle pennantsample'],
    ['music.youtube.com/@PennantSample', 'handle pennantsample'],
    ['WWW.YouTube.com/user/PennantSample', 'username pennantsample'],
    ['https://www.youtube.com/@h%C3%B6henkamm', 'handle höhenkamm'],
    [`https://banners.example/${ID}/avatar`, `id ${ID}`],
    [`http://127.0.0.1:8080/api/banner/${ID}?type=tv`, `id ${ID}`],
    [`http://127.0.0.1:8080/api/channel/${ID}`, `id ${ID}`],
    ['http://127.0.0.1:8080/api/channel/PennantSample?type=handle', 'handle pennantsample'],
    ['http://127.0.0.1:8080/api/channel/PennantSample?type=username', 'username pennantsample'],
    ['http://127.0.0.1:8080/API/Channel/PennantSample?TYPE=Handle', 'handle pennantsample'],
    [`HTTPS://WWW.YOUTUBE.COM/CHANNEL/${ID}`, `id ${ID}`],
    ['https://www.youtube.com/USER/PennantSample', 'username pennantsample'],
    ['@J\u030Cx', 'handle ǰx'],
  ])('reads %s', (text, expected) => {
    expect(kindsAndKeys(text)).toEqual([expected]);
  });

  it('tries a custom name as a handle before it tries it as a user name', () => {
    expect(kindsAndKeys('https://www.youtube.com/c/Pennant')).toEqual(['handle pennant', 'username pennant']);
  });

  it.each([
    '',
    'pennant sample',
    'pennantsample',
    '@',
    'UCtooShort',
    'https://',
    'https://www.youtube.com/',
    'https://www.youtube.com/watch?v=abcdefghijk',
    'https://www.youtube.com/channel/UCtooShort',
    'https://www.youtube.com/@%zz',
    'example.com/@pennantsample',
    `ftp://www.youtube.com/channel/${ID}`,
    'youtube.com',
  ])('returns nothing for "%s", which is a search text', (text) => {
    expect(channelRefsOf(text)).toEqual([]);
  });
});
