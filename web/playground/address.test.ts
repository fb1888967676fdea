import { describe, expect, test } from 'vitest';
import { readState, searchOf } from './address.ts';

const EMPTY = readState('');

describe('the address of the playground', () => {
  test.each([
    { channel: '@pennantsample' },
    { channel: 'two words & more', variant: 'mobile', format: 'webp', width: '4096', height: '1', quality: '100' },
    { channel: '@a', fit: 'contain', background: 'ff8800', metric: 'views', label: 'a=b&c', color: '00ff00' },
    { width: 'auto', style: 'for-the-badge', logo: 'youtube' },
  ])('keeps the state %j', (changes) => {
    const state = { ...EMPTY, ...changes };
    expect(readState(searchOf(state))).toEqual(state);
  });

  test('has what differs from the usual state only, and is readable', () => {
    expect([searchOf(EMPTY), searchOf({ ...EMPTY, channel: '@a' })]).toEqual(['', '?channel=@a']);
  });

  test.each([
    'width=4097',
    'width=0',
    'width=1e3',
    'height=-1',
    'quality=101',
    'variant=moon',
    'format=gif',
    'background=%23fff',
    'color=red',
  ])('ignores %s', (parameter) => expect(readState(`?${parameter}`)).toEqual(EMPTY));
});
