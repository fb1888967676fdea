import { describe, expect, it } from 'vitest';
import { plainTitle } from './channel.ts';

describe('a plain title', () => {
  it.each([
    ['Bell\r\nRock', 'Bell Rock'],
    ['\tBell\u2028\u2029Rock\n', 'Bell Rock'],
    ['Bell\0Rock\u001b[2J', 'BellRock[2J'],
    ['\u202eevil\u202c \u2066isolated\u2069', 'evil isolated'],
    ['\u202e\r\n', ''],
    ['cut \ud83d', 'cut \ufffd'],
    ['\ud83d\0\ude00', '\ufffd\ufffd'],
    // Unchanged: spaces, joiners and marks of scripts.
    [' Bell  Rock ', ' Bell  Rock '],
    ['नमस्ते 👨‍👩‍👧 שלום\u200f مرحبا\u061c', 'नमस्ते 👨‍👩‍👧 שלום\u200f مرحبا\u061c'],
  ])('of %j is %j', (title, plain) => {
    expect(plainTitle(title)).toBe(plain);
  });

  it('has no controls, line breaks and changes of direction, and is its own plain title', () => {
    const plain = plainTitle(Array.from({ length: 0x1_00_00 }, (_, code) => String.fromCharCode(code)).join(''));
    expect(plain).not.toMatch(/[\p{Cc}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069]/u);
    expect(plainTitle(plain)).toBe(plain);
  });
});
