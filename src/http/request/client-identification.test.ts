import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseConfig } from '../../config/settings.ts';
import { createClientIdentification } from './client-identification.ts';

const overrides = (...items: readonly string[]) =>
  parseConfig({ RATE_LIMIT_OVERRIDES: items.join() }).rateLimitOverrides;

const DEFAULT_LIMIT = { requests: 10, windowMs: 30_000 };
const LIMITS = { defaultLimit: DEFAULT_LIMIT, limitOverrides: [] };
const PROXY = '10.0.0.1';
const identifyClient = createClientIdentification({
  trustedProxies: parseConfig({ TRUST_PROXY: '10.0.0.0/8,127.0.0.1/32,2001:db8:ffff::/48' }).trustProxy,
  ipv6PrefixBits: 64,
  ...LIMITS,
});

function addressBehindProxy(forwardedFor: string | string[] | undefined): string {
  return identifyClient({ remoteAddress: PROXY }, forwardedFor).address;
}

describe('the client of a connection that is not from a trusted proxy', () => {
  it.each([
    ['203.0.113.7', '203.0.113.7', '203.0.113.7'],
    ['::ffff:203.0.113.7', '203.0.113.7', '203.0.113.7'],
    ['::ffff:cb00:7107', '203.0.113.7', '203.0.113.7'],
    ['64:ff9b::203.0.113.7', '203.0.113.7', '203.0.113.7'],
    ['2001:DB8:0:1:2:3:4:5', '2001:db8:0:1:2:3:4:5', '2001:db8:0:1::/64'],
    ['fe80::1%eth0', 'fe80::1', 'fe80::/64'],
    ['', '', ''],
  ])('%s has the address %s and counts as %s', (socketAddress, address, key) => {
    expect(identifyClient({ remoteAddress: socketAddress }, undefined)).toMatchObject({ address, key });
  });
});

describe('the client behind a trusted proxy', () => {
  it.each<[string | string[] | undefined, string]>([
    ['203.0.113.7', '203.0.113.7'],
    ['203.0.113.7:51234', '203.0.113.7'],
    ['"203.0.113.7:51234"', '203.0.113.7'],
    ['2001:db8::1', '2001:db8::1'],
    ['[2001:db8::1]:443', '2001:db8::1'],
    ['"[2001:db8::1]:443"', '2001:db8::1'],
    ['::ffff:203.0.113.7', '203.0.113.7'],
    ['198.51.100.1, 203.0.113.7', '203.0.113.7'],
    ['198.51.100.1,203.0.113.7,10.2.3.4, 127.0.0.1', '203.0.113.7'],
    ['203.0.113.7, 2001:db8:ffff::1', '203.0.113.7'],
    ['203.0.113.7, 64:ff9b::10.2.3.4', '203.0.113.7'],
    ['[64:ff9b::cb00:7107]:443', '203.0.113.7'],
    [['198.51.100.1', '203.0.113.7, 10.9.9.9'], '203.0.113.7'],
  ])('%j is %s', (forwardedFor, address) => {
    expect(addressBehindProxy(forwardedFor)).toBe(address);
  });

  it.each<[string, string | string[] | undefined, string]>([
    ['without the header', undefined, PROXY],
    ['when every entry is trusted', '10.3.3.3, 10.2.2.2', '10.3.3.3'],
    ['at an empty header', '', PROXY],
    ['at an empty entry on the right', '203.0.113.7,', PROXY],
    ['at an empty entry in between', '203.0.113.7,, 10.2.2.2', '10.2.2.2'],
    ['at "unknown"', '203.0.113.7, unknown, 10.2.2.2', '10.2.2.2'],
    ['at an octal address', '203.0.113.7, 0313.0.113.7', PROXY],
    ['at a port that is too long', '203.0.113.7:123456', PROXY],
    ['at an unclosed bracket', '[2001:db8::1', PROXY],
    ['at a host name', 'client.example', PROXY],
    ['at control characters', '203.0.113.7\u0000', PROXY],
  ])('%s is the last trusted address', (_case, forwardedFor, address) => {
    expect(addressBehindProxy(forwardedFor)).toBe(address);
  });

  it('is never an address to the left of the first untrusted one', () => {
    const entry = fc.oneof(fc.ipV4(), fc.ipV6(), fc.string(), fc.constantFrom('unknown', '', ',', '10.1.1.1', '"'));
    fc.assert(
      fc.property(fc.array(entry), (forged) => {
        expect(addressBehindProxy([...forged, '203.0.113.7', '10.7.7.7'])).toBe('203.0.113.7');
      }),
    );
  });
});

describe('the network of a client', () => {
  it.each([
    ['203.0.113.7', '203.0.113.0/24'],
    ['::ffff:203.0.113.7', '203.0.113.0/24'],
    ['64:ff9b::203.0.113.7', '203.0.113.0/24'],
    ['64:ff9b::cb00:7107', '203.0.113.0/24'],
    ['255.255.255.255', '255.255.255.0/24'],
    ['2001:db8:17:1:2:3:4:5', '2001:db8:17::/48'],
    ['2001:db8:17:ffff::1', '2001:db8:17::/48'],
    ['unix:', 'unix:'],
  ])('%s is in %s', (address, network) => {
    expect(identifyClient({ remoteAddress: address }, undefined).network).toBe(network);
  });

  it('is the client itself if the client is a wider network, or has an override', () => {
    const identify = createClientIdentification({
      trustedProxies: [],
      ipv6PrefixBits: 32,
      defaultLimit: DEFAULT_LIMIT,
      limitOverrides: overrides('198.51.100.0/24=100/60', '2001:db9::/32=unlimited'),
    });
    expect(identify({ remoteAddress: '2001:db8:17:1::1' }, undefined).network).toBe('2001:db8::/32');
    expect(identify({ remoteAddress: '198.51.100.7' }, undefined).network).toBe('198.51.100.7');
    expect(identify({ remoteAddress: '198.51.101.7' }, undefined).network).toBe('198.51.101.0/24');
    expect(identify({ remoteAddress: '2001:db9:17:1::1' }, undefined).network).toBe('2001:db9::/32');
  });
});

describe('the limit of a client', () => {
  const identify = createClientIdentification({
    trustedProxies: [],
    ipv6PrefixBits: 64,
    defaultLimit: DEFAULT_LIMIT,
    limitOverrides: overrides(
      '198.51.100.0/24=100/60',
      '198.51.100.128/25=unlimited',
      '198.51.100.200/32=1/1',
      '2001:db8:1::/48=50/30',
      '2001:db8:1::7/128=unlimited',
    ),
  });

  it.each([
    ['198.51.100.1', { requests: 100, windowMs: 60_000 }],
    ['198.51.100.129', 'unlimited'],
    ['198.51.100.200', { requests: 1, windowMs: 1_000 }],
    ['198.51.101.1', DEFAULT_LIMIT],
    ['2001:db8:1:ffff::1', { requests: 50, windowMs: 30_000 }],
    ['2001:db8:1::7', 'unlimited'],
    ['2001:db8:2::1', DEFAULT_LIMIT],
    ['::ffff:198.51.100.1', { requests: 100, windowMs: 60_000 }],
    ['64:ff9b::198.51.100.1', { requests: 100, windowMs: 60_000 }],
  ])('for %s is the one of the longest prefix', (address, limit) => {
    expect(identify({ remoteAddress: address }, undefined).limit).toEqual(limit);
  });
});
