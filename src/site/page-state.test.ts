import { describe, expect, test } from 'vitest';
import { addressOf, readState, USUAL_CHOICE } from './page-state.ts';

const PAGE = 'https://play.pennant.example/playground/';

describe('the address of the page', () => {
  test.each([
    { channel: '@pennantsample', ...USUAL_CHOICE, instance: '' },
    { channel: '', ...USUAL_CHOICE, instance: 'https://img.pennant.example:8443' },
    {
      channel: 'two words & more',
      variant: 'mobile',
      format: 'webp',
      width: '4096',
      height: '1',
      quality: '100',
      fit: 'contain',
      background: 'ff8800',
      instance: '',
    },
    { channel: '@a', ...USUAL_CHOICE, variant: 'tv', width: '', instance: '' },
  ] as const)('keeps the state %j', (state) => {
    expect(readState(addressOf(state, `${PAGE}?channel=former#former`))).toEqual(state);
  });

  test('is readable', () => {
    const state = { channel: '@pennantsample', ...USUAL_CHOICE, instance: 'https://img.pennant.example' };
    expect(addressOf(state, PAGE)).toBe(`${PAGE}?channel=@pennantsample&instance=https://img.pennant.example`);
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
  ])('ignores %s', (parameter) => {
    expect(readState(`${PAGE}?${parameter}`)).toEqual({ channel: '', ...USUAL_CHOICE, instance: '' });
  });

  test('takes the channel from a fragment, as in a shared link', () => {
    expect(readState(`${PAGE}#%40pennantsample`).channel).toBe('@pennantsample');
    expect(readState(`${PAGE}#%zz`).channel).toBe('');
  });
});
