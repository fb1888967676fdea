import { describe, expect, it } from 'vitest';
import { isPrivateAddress } from './ip-addresses.ts';

describe('isPrivateAddress', () => {
  it.each([
    '10.0.0.1',
    '172.17.0.1',
    '192.168.1.1',
    '127.0.0.1',
    '169.254.0.1',
    '100.64.0.1',
    '::1',
    'fd00::1',
    'fe80::1',
    '64:ff9b::10.0.0.1',
  ])('is true for %s', (address) => {
    expect(isPrivateAddress(address)).toBe(true);
  });

  it.each(['203.0.113.7', '8.8.8.8', '64:ff9b::8.8.8.8', '2a00:1450::1', '', 'unknown'])(
    'is false for "%s"',
    (address) => {
      expect(isPrivateAddress(address)).toBe(false);
    },
  );
});
