import { describe, expect, it } from 'vitest';
import { findHandle, findUsername } from './identifier.ts';

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
