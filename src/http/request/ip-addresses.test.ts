import { isIPv4, isIPv6 } from 'node:net';
import fc from 'fast-check';
import ipaddr from 'ipaddr.js';
import { describe, expect, it } from 'vitest';
import { runsOf } from '../../../test/helpers/runs.ts';
import {
  createNetworkTable,
  formatAddress,
  type IpAddress,
  parseAddress,
  parseIpv4,
  truncateAddress,
} from './ip-addresses.ts';

function addressOf(text: string): IpAddress {
  const address = parseAddress(text);
  if (address === undefined) throw new Error(`${text} is no address`);
  return address;
}

describe('parseIpv4', () => {
  it.each([
    ['0.0.0.0', 0],
    ['255.255.255.255', 0xffff_ffff],
    ['192.0.2.1', 0xc000_0201],
  ])('reads %s', (text, bits) => {
    expect(parseIpv4(text)).toBe(bits);
  });

  it.each([
    '',
    '1',
    '10.1',
    '1.2.3',
    '1.2.3.4.5',
    '1.2.3.',
    '.1.2.3',
    '1..2.3',
    '1.2.3.256',
    '010.1.1.1',
    '00.0.0.0',
    '0x7f.0.0.1',
    '1.2.3.4 ',
    '1.2.3.-4',
    '١.2.3.4',
    '1.2.3.4%eth0',
  ])('refuses "%s"', (text) => {
    expect(parseIpv4(text)).toBeUndefined();
  });

  it('agrees with Node on every text of digits and dots', () => {
    const nearlyIpv4 = fc.array(fc.constantFrom('0', '1', '25', '255', '256', '.', '.', '.'), { maxLength: 9 });
    fc.assert(
      fc.property(
        fc.oneof(
          fc.ipV4(),
          nearlyIpv4.map((parts) => parts.join('')),
        ),
        (text) => {
          expect(parseIpv4(text) !== undefined).toBe(isIPv4(text));
        },
      ),
      { numRuns: runsOf(2_000) },
    );
  });
});

describe('parseAddress', () => {
  it.each([
    ['::ffff:192.0.2.1', '192.0.2.1'],
    ['::FFFF:c000:0201', '192.0.2.1'],
    ['2001:DB8:0:0:1:0:0:1', '2001:db8::1:0:0:1'],
    ['fe80::1%eth0', 'fe80::1'],
    ['64:ff9b::192.0.2.1', '192.0.2.1'],
    ['64:ff9b::c000:201%eth0', '192.0.2.1'],
    ['64:ff9b:1::c000:201', '64:ff9b:1::c000:201'],
    ['64:ff9b::1:c000:201', '64:ff9b::1:c000:201'],
    ['::', '::'],
  ])('reads %s as %s', (text, canonical) => {
    expect(formatAddress(addressOf(text))).toBe(canonical);
  });

  it.each([
    '::ffff:010.1.1.1',
    '1::2::3',
    '2001:db8::g',
    '[::1]',
    'fe80::1%',
    '',
    'unknown',
    `::1%${'x'.repeat(9_000)}`,
  ])('refuses "%s"', (text) => {
    expect(parseAddress(text)).toBeUndefined();
  });

  it('writes every address so that it is read as the same address', () => {
    fc.assert(
      fc.property(fc.oneof(fc.ipV4(), fc.ipV6()), (text) => {
        const canonical = formatAddress(addressOf(text));
        expect(formatAddress(addressOf(canonical))).toBe(canonical);
        expect(isIPv4(canonical) || isIPv6(canonical)).toBe(true);
      }),
    );
  });
});

describe('createNetworkTable', () => {
  const find = createNetworkTable([
    [ipaddr.parseCIDR('10.0.0.0/8'), 'wide'],
    [ipaddr.parseCIDR('10.1.2.3/16'), 'narrow'],
    [ipaddr.parseCIDR('10.1.255.255/32'), 'single'],
    [ipaddr.parseCIDR('2001:db8::/32'), 'wide v6'],
    [ipaddr.parseCIDR('2001:db8:1::/48'), 'narrow v6'],
    [ipaddr.parseCIDR('::ffff:172.16.0.0/108'), 'mapped'],
    [ipaddr.parseCIDR('172.16.5.0/24'), 'inside mapped'],
    [ipaddr.parseCIDR('64:ff9b::198.51.100.0/120'), 'NAT64'],
  ]);

  it.each([
    ['10.255.0.1', 'wide'],
    ['10.1.200.1', 'narrow'],
    ['10.1.255.255', 'single'],
    ['11.0.0.0', undefined],
    ['9.255.255.255', undefined],
    ['2001:db8:ffff::1', 'wide v6'],
    ['2001:db8:1:ffff::1', 'narrow v6'],
    ['2001:db9::1', undefined],
    ['172.31.0.1', 'mapped'],
    ['172.16.5.1', 'inside mapped'],
    ['172.32.0.1', undefined],
    ['64:ff9b::ac1f:1', 'mapped'],
    ['198.51.100.9', 'NAT64'],
    ['64:ff9b::198.51.100.9', 'NAT64'],
    ['198.51.101.9', undefined],
  ])('finds the value for %s: %s', (text, value) => {
    expect(find(addressOf(text))).toBe(value);
  });

  it('matches every address of a family with a prefix of length 0', () => {
    const everything = createNetworkTable([[ipaddr.parseCIDR('0.0.0.0/0'), true]]);
    expect(everything(addressOf('255.255.255.255'))).toBe(true);
    expect(everything(addressOf('::1'))).toBeUndefined();
  });

  it('agrees with ipaddr.js on every IPv4 network', () => {
    fc.assert(
      fc.property(fc.ipV4(), fc.ipV4(), fc.integer({ min: 0, max: 32 }), (network, text, bits) => {
        const table = createNetworkTable([[[ipaddr.IPv4.parse(network), bits], true]]);
        expect(table(addressOf(text)) === true).toBe(ipaddr.IPv4.parse(text).match(ipaddr.IPv4.parse(network), bits));
      }),
    );
  });
});

describe('truncateAddress', () => {
  it.each([
    ['203.0.113.77', '203.0.113.0/24'],
    ['255.255.255.255', '255.255.255.0/24'],
    ['::ffff:203.0.113.77', '203.0.113.0/24'],
    ['64:ff9b::203.0.113.77', '203.0.113.0/24'],
    ['2001:db8:17:99::1', '2001:db8:17::/48'],
    ['::1', '::/48'],
    ['no address', 'other'],
    ['', 'other'],
  ])('shortens %s to %s', (text, network) => {
    expect(truncateAddress(text)).toBe(network);
  });
});
