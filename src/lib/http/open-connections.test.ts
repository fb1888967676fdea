import type { ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { describe, expect, it } from 'vitest';
import {
  type CloseReason,
  type ConnectionOwner,
  createOpenConnections,
  maxConnectionsFor,
} from './open-connections.ts';

/** Clients of one network: `a1`, `a2`. Each may have 3 connections. */
function ownerOf(client: string): ConnectionOwner {
  return { key: client, network: client.charAt(0), maxConnections: 3 };
}

function start(maxConnections: number, maxConnectionsPerNetwork = maxConnections) {
  const reasons: CloseReason[] = [];
  const onClosed = (reason: CloseReason) => void reasons.push(reason);
  const connections = createOpenConnections({ maxConnections, maxConnectionsPerNetwork, onClosed });
  const open = (client: string | undefined) => {
    const socket = new Socket();
    connections.add(socket, client === undefined ? undefined : ownerOf(client));
    /** @returns a function that ends the response */
    const ask = () => {
      const response = { closed: false, req: { complete: true } };
      connections.begin(socket, response as unknown as ServerResponse);
      return () => {
        response.closed = true;
      };
    };
    return { ask, socket, isOpen: () => !socket.destroyed };
  };
  return { connections, open, reasons };
}

type Opened = ReturnType<ReturnType<typeof start>['open']>;

const areOpen = (...opened: readonly Opened[]) => opened.map(({ isOpen }) => isOpen());

it('closes further connections of a network that has too many', () => {
  const { open, reasons } = start(100, 2);
  expect(areOpen(open('a1'), open('a2'), open('a3'), open('b1'))).toEqual([true, true, false, true]);
  expect(reasons).toEqual(['network']);
});

describe('when all places are taken', () => {
  it('the longest idle connection makes room', () => {
    const { connections, open, reasons } = start(3);
    const [first, second, third] = [open('a1'), open('b1'), open('c1')] as const;
    first.ask()();
    expect(areOpen(open('d1'), first, second, third)).toEqual([true, true, false, true]);
    expect([reasons, connections.stats()]).toEqual([['full'], { entries: 3, maxEntries: 3 }]);
  });

  it('a further connection is closed while each connection has a request under way', () => {
    const { open } = start(2);
    const [first, second] = [open('a1'), open('b1')] as const;
    const end = first.ask();
    second.ask();
    expect(areOpen(open('c1'), first, second)).toEqual([false, true, true]);
    end();
    expect(areOpen(open('c1'), first, second)).toEqual([true, false, true]);
  });

  it('connections without an owner stay, and take the places of idle connections', () => {
    const { open } = start(3);
    const proxies = [open(undefined), open(undefined)];
    const idle = open('a1');
    expect(areOpen(open(undefined), idle, ...proxies)).toEqual([true, false, true, true]);
    expect(areOpen(open(undefined), open('a2'), ...proxies)).toEqual([false, false, true, true]);
  });
});

const GIBIBYTE = 2 ** 30;

it.each([
  [20_000, 64, 19_744],
  [512, 64, 256],
  [100, 64, 50],
  [65_536, 1, 2_048],
  [Infinity, 0.5, 1_024],
])('with %d files and %d GiB of memory, clients may open %d connections', (openFiles, gibibytes, connections) => {
  expect(maxConnectionsFor({ openFiles, memoryBytes: gibibytes * GIBIBYTE })).toBe(connections);
});
