import { describe, expect, it } from 'vitest';
import { printable, printableJson } from './printable.ts';

describe('printable', () => {
  it.each([
    ['\u001b[2J', '\\u{1b}[2J'],
    ['\u009b31m', '\\u{9b}31m'],
    ['a\r\nb\u2028c', 'a\\u{d}\\u{a}b\\u{2028}c'],
    ['\u202eevil\u2066', '\\u{202e}evil\\u{2066}'],
    ['\ud83d', '\\u{d83d}'],
    ['Bell Rock ★ นายนาย 👨‍👩‍👧', 'Bell Rock ★ นายนาย 👨‍👩‍👧'],
  ])('writes %j as %j', (text, shown) => {
    expect(printable(text)).toBe(shown);
  });

  it('truncates a long text before it escapes it', () => {
    expect(printable('x'.repeat(1_000_000), 5)).toBe('xxxxx…');
    expect(printable('xxxxx', 5)).toBe('xxxxx');
    expect(printable('\u001b'.repeat(5), 5)).toBe('\\u{1b…');
  });

  it('and printableJson never output a terminal control sequence', () => {
    const every = Array.from({ length: 0x1_00_00 }, (_, code) => String.fromCharCode(code)).join('');
    const json = printableJson({ every });
    expect(JSON.parse(json)).toEqual({ every });
    for (const text of [printable(every, 1_000_000), json.replaceAll('\n', '')])
      expect(text).not.toMatch(/[\p{Cc}\p{Cs}\u2028\u2029\u202a-\u202e\u2066-\u2069]/u);
  });
});
