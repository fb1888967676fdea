import { describe, expect, it } from 'vitest';
import { createBaseFinder } from './target.ts';

describe('the base from Host', () => {
  const findBase = createBaseFinder([]);

  it.each([
    'pennant.example',
    'Pennant.Example',
    'pennant.example.',
    'a_b.example',
    'localhost:8080',
    'a:1',
    'a:65535',
    '192.0.2.1:80',
    '[::1]',
    '[2001:DB8::1]:443',
    '[::ffff:192.0.2.1]:80',
    `${'a'.repeat(254)}:65535`,
  ])('is %s in lower case', (host) => {
    expect(findBase(host, 'http')).toBe(`http://${host.toLowerCase()}`);
  });

  it.each([
    '',
    'a:0',
    'a:00000',
    'a:65536',
    'a:99999',
    'a:999999',
    'a:',
    'a:b',
    'a:-1',
    ':80',
    'a b',
    'a/b',
    'a@b',
    'a?b',
    'a#b',
    '-a',
    'a,b',
    '[::1',
    '::1',
    '[::::]',
    '[1:2]',
    '[::1]x',
    '[::1]:65536',
    '[fe80::1%eth0]',
    'пример.example',
    'a\u0000',
    'a'.repeat(261),
    `${'a'.repeat(255)}:65535`,
    `a${'-'.repeat(22_000)}`,
  ])('is empty for "%s"', (host) => {
    expect(findBase(host, 'http')).toBe('');
  });
});

describe('the base from BASE_URL', () => {
  const findBase = createBaseFinder(['https://one.example', 'https://two.example:8443']);

  it('is the one that matches Host, otherwise the first', () => {
    expect(findBase('TWO.example:8443', 'http')).toBe('https://two.example:8443');
    expect(findBase('two.example', 'http')).toBe('https://one.example');
    expect(findBase('a b', 'http')).toBe('https://one.example');
  });
});
