import type { Socket } from 'node:net';
import { Readable } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import type { ClientKeys } from '../lib/work.ts';
import { createConnection, createSliceReader, SLICE_BYTES } from './slices.ts';

/** Lets connections with this many slices each wait at the same time. @returns the owners of the slices, in order */
async function readAll(connections: readonly { readonly client: ClientKeys; readonly slices: number }[]) {
  const reader = createSliceReader();
  const order: string[] = [];
  for (const { client, slices } of connections) {
    const socket = new Readable({ read: () => undefined });
    reader.read(socket as Socket, createConnection(false), client, () => undefined);
    socket.on('data', () => order.push(client.key));
    socket.push(Buffer.alloc(slices * SLICE_BYTES));
  }
  const expected = connections.reduce((sum, { slices }) => sum + slices, 0);
  while (order.length < expected) await nextTurn();
  return order;
}

test('the connections of one client share its turn', async () => {
  const one = { key: 'one', network: 'n1' };
  const other = { key: 'other', network: 'n2' };
  const order = await readAll([
    ...Array.from({ length: 100 }, () => ({ client: one, slices: 2 })),
    { client: other, slices: 2 },
  ]);
  expect(order.slice(0, 4)).toEqual(['one', 'other', 'one', 'other']);
});

test('the clients of one network share its turn, and take turns in it', async () => {
  const neighbours = Array.from({ length: 100 }, (_, number) => ({ key: `neighbour ${number}`, network: 'n1' }));
  const other = { key: 'other', network: 'n2' };
  const order = await readAll([...neighbours, other].map((client) => ({ client, slices: 2 })));
  expect(order.slice(0, 4)).toEqual(['neighbour 0', 'other', 'neighbour 1', 'other']);
  const oneEach = order.filter((key) => key !== 'other').slice(0, neighbours.length);
  expect(oneEach).toEqual(neighbours.map(({ key }) => key));
});
