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

function start(maxConnections: number) {
  const reasons: CloseReason[] = [];
  const connections = createOpenConnections({ maxConnections, onClosed: (reason) => reasons.push(reason) });
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

describe('the connections of one client', () => {
  it('are closed when there are too many, the longest idle one first', () => {
    const { open, reasons } = start(100);
    const [first, second, third] = [open('a1'), open('a1'), open('a1')] as const;
    first.ask()();
    const fourth = open('a1');
    expect(areOpen(first, second, third, fourth)).toEqual([true, false, true, true]);
    const fifth = open('a1');
    expect(areOpen(first, third, fourth, fifth)).toEqual([true, false, true, true]);
    expect(reasons).toEqual(['client', 'client']);
  });

  it('are not closed while a request is under way, and a further one is refused', () => {
    const { open } = start(100);
    const busy = [open('a1'), open('a1'), open('a1')];
    const [end] = busy.map(({ ask }) => ask());
    expect(areOpen(open('a1'), ...busy)).toEqual([false, true, true, true]);
    end?.();
    expect(areOpen(open('a1'), ...busy)).toEqual([true, false, true, true]);
  });

  it('cost other clients nothing, neighbours included', () => {
    const { open } = start(100);
    const others = [open('a2'), open('b1')];
    for (let count = 0; count < 50; count += 1) open('a1');
    expect(areOpen(...others)).toEqual([true, true]);
  });

  it('count no more when they have ended', async () => {
    const { connections, open } = start(100);
    const ended = [open('a1'), open('a1'), open('a1')];
    for (const { socket } of ended) await new Promise((resolve) => socket.destroy().once('close', resolve));
    expect(connections.stats().entries).toBe(0);
    expect(areOpen(open('a1'), open('a1'), open('a1'))).toEqual([true, true, true]);
  });
});

describe('when all places are taken', () => {
  it('a network that has most loses its longest idle connection', () => {
    const { connections, open, reasons } = start(4);
    const bystander = open('b1');
    const [first, second, third] = [open('a1'), open('a2'), open('a1')] as const;
    const newcomer = open('c1');
    expect(areOpen(bystander, first, second, third, newcomer)).toEqual([true, false, true, true, true]);
    expect([reasons, connections.stats()]).toEqual([['full'], { entries: 4, maxEntries: 4 }]);
  });

  it('a network with more connections loses its oldest request if it has none that is idle', () => {
    const { open } = start(4);
    const busy = [open('a1'), open('a2'), open('a3'), open('a4')];
    for (const { ask } of busy) ask();
    const newcomer = open('b1');
    expect(areOpen(newcomer, ...busy)).toEqual([true, false, true, true, true]);
    // Now the networks have three and one.
    expect(areOpen(open('b2'), newcomer, ...busy)).toEqual([true, true, false, false, true, true]);
    // Two and two: a third one would be more than the other network has.
    expect(areOpen(open('a5'), newcomer)).toEqual([false, true]);
  });

  it('a further connection of the network that has most is refused if it has none that is idle', () => {
    const { open } = start(4);
    const idle = open('b1');
    const busy = [open('a1'), open('a2'), open('a3')];
    for (const { ask } of busy) ask();
    expect(areOpen(open('a4'), idle, ...busy)).toEqual([false, true, true, true, true]);
  });

  it('among equal networks, one with an idle connection loses it', () => {
    const { open } = start(3);
    const [busy, idle] = [open('a1'), open('b1'), open('c1')] as const;
    busy.ask();
    expect(areOpen(open('d1'), busy, idle)).toEqual([true, true, false]);
  });

  it('connections without an owner are never closed for others, and may take the place of idle ones', () => {
    const { open } = start(3);
    const proxies = [open(undefined), open(undefined)];
    const idle = open('a1');
    expect(areOpen(open(undefined), idle, ...proxies)).toEqual([true, false, true, true]);
    expect(areOpen(open(undefined), open('a2'), ...proxies)).toEqual([false, false, true, true]);
  });
});

describe('closing idle connections', () => {
  it('spares those with a request under way, and those that have sent their last response', () => {
    const { connections, open } = start(10);
    const [unused, answered, busy, ended] = [open('a1'), open('a1'), open('a1'), open('a2')] as const;
    answered.ask()();
    busy.ask();
    ended.ask()();
    Object.defineProperty(ended.socket, 'writable', { value: false });
    connections.closeIdle();
    expect(areOpen(unused, answered, busy, ended)).toEqual([false, false, true, true]);
  });

  it('spares those whose bytes have not been parsed yet', () => {
    const { connections, open } = start(10);
    const waiting = open('a1');
    waiting.socket.push('GET / HTTP/1.1\r\n');
    connections.closeIdle();
    expect(waiting.isOpen()).toBe(true);
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
