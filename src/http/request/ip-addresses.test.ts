import { isIPv4 } from 'node:net';
import fc from 'fast-check';
import ipaddr from 'ipaddr.js';
import { describe, expect, it } from 'vitest';
import { runsOf } from '../../../test/helpers/runs.ts';
import { createNetworkTable, type IpAddress, parseAddress, parseIpv4 } from './ip-addresses.ts';

function addressOf(text: string): IpAddress {
  const address = parseAddress(text);
  if (address === undefined) throw new Error(`${text} is no address`);
  return address;
}

describe('parseIpv4', () => {
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

describe('createNetworkTable', () => {
  it('agrees with ipaddr.js on every IPv4 network', () => {
    fc.assert(
      fc.property(fc.ipV4(), fc.ipV4(), fc.integer({ min: 0, max: 32 }), (network, text, bits) => {
        const table = createNetworkTable([[[ipaddr.IPv4.parse(network), bits], true]]);
        expect(table(addressOf(text)) === true).toBe(ipaddr.IPv4.parse(text).match(ipaddr.IPv4.parse(network), bits));
      }),
    );
  });
});
