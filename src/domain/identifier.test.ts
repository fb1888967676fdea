import { describe, expect, it } from 'vitest';
import { findHandle } from './identifier.ts';

describe('findHandle', () => {
  it.each(['ệ', '한', 'ǘ', '𝒜', 'é'])('takes 30 code points in whichever form they are written: %s', (letter) => {
    const handle = `@${letter.repeat(30)}`;
    for (const form of ['NFC', 'NFD'] as const) {
      expect(findHandle(handle.normalize(form))?.value).toBe(letter.normalize('NFC').repeat(30));
    }
    expect(findHandle(`${handle}${letter}`)).toBeUndefined();
  });

  it('does not look at what is too long in any form', () => {
    expect(findHandle(`@e${'\u0301\u0316'.repeat(200_000)}`)).toBeUndefined();
  });
});
