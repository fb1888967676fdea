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
    ['2001:db8:17:99::1', '2001:db8:17::/48'],
    ['no address', 'other'],
  ])('shortens %s to %s', (text, network) => {
    expect(truncateAddress(text)).toBe(network);
  });
});
