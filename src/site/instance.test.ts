import { describe, expect, test } from 'vitest';
import { parseInstance } from './instance.ts';

describe('the address of an instance', () => {
  test.each([
    ['https://img.pennant.example', 'https://img.pennant.example'],
    [' HTTPS://IMG.pennant.example:443/ ', 'https://img.pennant.example'],
    ['http://localhost:8080', 'http://localhost:8080'],
    ['http://127.0.0.1:8080', 'http://127.0.0.1:8080'],
  ])('%j is the origin %s', (text, origin) => expect(parseInstance(text, 'https:')).toEqual({ origin, problem: '' }));

  test.each([
    ['img.pennant.example', /starts with http/],
    ['javascript:alert(1)', /starts with http/],
    ['https://a b', /not an address/],
    ['https://name@img.pennant.example', /no login/],
    ['https://:word@img.pennant.example', /no login/],
    ['https://img.pennant.example/path', /without a path/],
    ['http://img.pennant.example', /HTTPS/],
  ])('%j is refused with a reason', (text, problem) => {
    expect(parseInstance(text, 'https:')).toEqual({ origin: undefined, problem: expect.stringMatching(problem) });
  });

  test('may be http:// for a page that was loaded by HTTP', () => {
    expect(parseInstance('http://img.pennant.example', 'http:').problem).toBe('');
  });
});
