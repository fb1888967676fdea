import { describe, expect, it } from 'vitest';
import { choice, isShowable, list, origin, proxyCidr, rateLimitOverride, SettingError } from './setting-forms.ts';

function mistakeOf(parse: (value: string) => unknown, value: string): SettingError {
  try {
    parse(value);
  } catch (error) {
    if (error instanceof SettingError) return error;
  }
  throw new Error(`${value} is accepted`);
}

describe('a mistake in a setting', () => {
  it.each([
    [list(choice(['first', 'last'])), 'first,c', 'must be one of first, last', 'c'],
    [proxyCidr, '10.0.0.1', expect.stringContaining('10.0.0.0/8'), '10.0.0.1'],
    [proxyCidr, '::/0', expect.stringContaining('all addresses'), '::/0'],
    [rateLimitOverride, '10.0.0.0/8', expect.stringContaining('CIDR=unlimited'), '10.0.0.0/8'],
  ] as const)('names what is expected and the value (%#)', (parse, given, message, value) => {
    const mistake = mistakeOf(parse, given);
    expect(mistake).toMatchObject({ message, value });
    expect(isShowable(mistake, given)).toBe(true);
  });

  it.each([origin, list(origin)])('does not have the value of a URL (%#)', (parse) => {
    for (const url of ['https://user:secret@a.example/', 'https://user:secret', 'ftp://a.example']) {
      const mistake = mistakeOf(parse, url);
      expect(mistake.value).toBeUndefined();
      expect(isShowable(mistake, url)).toBe(false);
    }
  });

  it('is not shown with a value that may be a part of a URL', () => {
    const given = 'redis://user:first,second@cache';
    const mistake = mistakeOf(list(choice(['first', 'last'])), given);
    expect(mistake.value).toBe('redis://user:first');
    expect(isShowable(mistake, given)).toBe(false);
  });
});
