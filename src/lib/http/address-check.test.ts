import type { LookupAddress } from 'node:dns';
import { describe, expect, it } from 'vitest';
import { AddressRefusedError, createPublicLookup, isPublicAddress } from './address-check.ts';

describe('isPublicAddress', () => {
  it.each([
    '127.0.0.1',
    '10.1.2.3',
    '172.16.0.1',
    '192.168.1.1',
    '169.254.169.254',
    '100.64.0.1',
    '224.0.0.1',
    '0.0.0.0',
    '0.1.2.3',
    '255.255.255.255',
    '198.18.0.1',
    '203.0.113.7',
    '240.0.0.1',
    '::',
    '::1',
    '::7f00:1',
    'fe80::1',
    'fe80::1%eth0',
    'fd00::1',
    'fec0::1',
    'ff02::1',
    '2001:db8::1',
    '::ffff:10.0.0.1',
    '::ffff:127.0.0.1',
    '64:ff9b::10.0.0.1',
    '64:ff9b::a9fe:a9fe',
    '64:ff9b:1::808:808',
    '2002:7f00:1::',
    '2002:808:808::',
    '2001:0:808:808::1',
    'not an address',
    '',
  ])('refuses %s', (address) => {
    expect(isPublicAddress(address)).toBe(false);
  });

  it.each(['8.8.8.8', '172.217.16.206', '2a00:1450:4001:80b::200e', '::ffff:8.8.8.8', '64:ff9b::8.8.8.8'])(
    'accepts %s',
    (address) => {
      expect(isPublicAddress(address)).toBe(true);
    },
  );
});

describe('createPublicLookup', () => {
  function lookUp(found: LookupAddress[], privateHosts: string[] = [], all = true): Promise<unknown> {
    const resolve = (_name: string, _options: unknown, done: (error: null, found: LookupAddress[]) => void) =>
      done(null, found);
    const lookup = createPublicLookup(new Set(privateHosts), resolve as never);
    return new Promise((settle, reject) => {
      lookup('images.example', { all }, (error, address) => (error === null ? settle(address) : reject(error)));
    });
  }

  const inside = { address: '10.0.0.1', family: 4 };
  const outside = { address: '8.8.8.8', family: 4 };

  it('returns only the public ones of several addresses', async () => {
    await expect(lookUp([inside, outside])).resolves.toEqual([outside]);
  });

  it('rejects a name with private addresses only', async () => {
    await expect(lookUp([inside])).rejects.toBeInstanceOf(AddressRefusedError);
  });

  it('accepts private addresses of a name that the operator allows', async () => {
    await expect(lookUp([inside], ['images.example'])).resolves.toEqual([inside]);
  });

  it('returns a single address to a caller that requests one', async () => {
    await expect(lookUp([inside, outside], [], false)).resolves.toBe('8.8.8.8');
  });
});
